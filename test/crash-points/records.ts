import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { normaliseNoPersonalNumber } from '../../server/src/identifiers/no-personal-number.ts';
import { oslo } from '../requests/bookings.ts';
import type { Operation } from './operation.ts';

/** Numbers of synthetic people (the month is raised by 80) whom no EHR of the demo has. */
const newNumbers = (function* () {
  for (let number = 15859001000; ; number++) {
    if (normaliseNoPersonalNumber(String(number), true) !== undefined) yield String(number);
  }
})();

/** Patients, and writes to their record. */
export const records: readonly Operation[] = [
  {
    name: 'a patient',
    completesAfter: 'intent',
    every: 1,
    async prepare(world) {
      const named = { given_name: 'Ny', family_name: 'Prøvestad', birth_date: '1990-05-15' };
      const identifier = `no_personal_number:${newNumbers.next().value}`;
      const found = () => world.send({ method: 'GET', path: `${oslo}/patients/${identifier}` });
      return {
        request: { method: 'POST', path: `${oslo}/patients`, body: { ...named, identifier } },
        status: 201,
        async expectDone({ body }) {
          expect(body).toMatchObject({ ...named, identifiers: [body.id, identifier] });
          expect((await found()).body).toEqual(body);
        },
        expectDoneWithoutRetry: async () => expect((await found()).status).toBe(200),
        expectNothingDone: async () => expect((await found()).status).toBe(404),
      };
    },
  },
  {
    name: 'a medical note',
    completesAfter: 'intent',
    every: 1,
    async prepare(world) {
      const path = `${oslo}/patients/emr_id%3Ap-3/medical-notes`;
      const text = `Note ${randomUUID()}`;
      const notes = async () => {
        const { body } = await world.done({ method: 'GET', path });
        const { medical_notes } = body as unknown as { medical_notes: { id: string; text: string }[] };
        return medical_notes.filter((note) => note.text === text);
      };
      return {
        request: { method: 'POST', path, body: { text, author_id: 'r-1' } },
        status: 201,
        async expectDone({ body, headers }) {
          expect(headers.get('location')).toBe(`${path}/${body.id}`);
          expect(await notes()).toEqual([body]);
        },
        expectDoneWithoutRetry: async () => expect(await notes()).toHaveLength(1),
        expectNothingDone: async () => expect(await notes()).toEqual([]),
      };
    },
  },
  {
    name: 'a document',
    completesAfter: 'intent',
    every: 2,
    async prepare(world) {
      const path = `${oslo}/patients/emr_id%3Ap-3/documents`;
      const title = `Document ${randomUUID()}`;
      const documents = async () => {
        const { body } = await world.done({ method: 'GET', path });
        return (body as unknown as { documents: { id: string; title: string }[] }).documents.filter(
          (it) => it.title === title,
        );
      };
      const content = Buffer.from(title).toString('base64');
      return {
        request: { method: 'POST', path, body: { title, content_type: 'text/plain', content } },
        status: 201,
        async expectDone({ body, headers }) {
          expect(headers.get('location')).toBe(`${path}/${body.id}`);
          expect(await documents()).toEqual([body]);
        },
        expectDoneWithoutRetry: async () => expect(await documents()).toHaveLength(1),
        expectNothingDone: async () => expect(await documents()).toEqual([]),
      };
    },
  },
];
