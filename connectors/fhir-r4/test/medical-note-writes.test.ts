import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { Fault } from '../fake/server.ts';
import type { FhirResource } from '../src/fhir.ts';
import { base64, start } from './medical-notes-server.ts';

describe('a create', () => {
  test('that gets no response is found by its operation id, once', async () => {
    const { server, write, documents } = await start();
    server.misbehave = failFirstCreate('cut_after');
    expect(await write()).toMatchObject({ text: 'Well.' });
    expect(documents()).toHaveLength(1);
  });

  test('that was never done is unknown, and says so to the gateway', async () => {
    const { server, write, documents } = await start();
    server.misbehave = failFirstCreate('cut_before');
    let noResponses = 0;
    const operationId = randomUUID();
    const onNoResponse = () => {
      noResponses += 1;
    };
    await expect(write({ operationId, onNoResponse })).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(noResponses).toBe(1);
    await write({ operationId });
    expect(documents()).toHaveLength(1);
  });

  test.each([{}, ...Array.from({ length: 8 }, () => ({ wholeSeconds: true }))])(
    'that the server does late, a second time, leaves the note that the caller knows (%o)',
    async (options) => {
      const { server, write, documents, findWrite } = await start({ heedsIfNoneExist: false, ...options });
      const operationId = randomUUID();
      const { promise: heldBackUntil, resolve } = Promise.withResolvers<void>();
      const { promise: isDelayed, resolve: delays } = Promise.withResolvers<void>();
      let creates = 0;
      server.misbehave = ({ method, path }): Fault | undefined => {
        if (method !== 'POST' || path !== '/DocumentReference' || ++creates > 1) return undefined;
        delays();
        return { heldBackUntil };
      };
      const late = write({ operationId });
      await isDelayed;
      // Of two calls in one millisecond, neither is the first.
      const called = Date.now();
      await vi.waitUntil(() => Date.now() > called, { interval: 1 });
      const kept = await write({ operationId });
      resolve();
      expect(await late).toEqual(kept);
      expect(await findWrite(operationId)).toEqual(kept);
      expect(
        documents()
          .filter(({ status }) => status === 'current')
          .map(({ id }) => id),
      ).toEqual([kept.id]);
    },
  );

  test('that the server rejects is rejected', async () => {
    const { server, write, documents } = await start();
    server.misbehave = failFirstCreate({ status: 422 });
    await expect(write()).rejects.toMatchObject({ kind: 'rejected' });
    expect(documents()).toEqual([]);
  });
});

function failFirstCreate(fault: Fault) {
  let creates = 0;
  return ({ method, path }: { method: string; path: string }): Fault | undefined =>
    method === 'POST' && path === '/DocumentReference' && ++creates === 1 ? fault : undefined;
}

describe('a withdrawal', () => {
  test.each([
    ['its title', { description: 'New' }],
    ['its text', { content: [{ attachment: { contentType: 'text/plain', data: base64('New.') } }] }],
    ['its author', { author: [{ reference: 'Practitioner/r-2' }] }],
    ['its status', { status: 'superseded' }],
  ])('leaves a note alone after staff have changed %s', async (_, change) => {
    const { server, write, documents, withdraw } = await start();
    const operationId = randomUUID();
    await write({ operationId });
    const [document] = documents();
    server.store.save({ ...document, ...change } as FhirResource);
    expect(await withdraw(operationId)).toBe('changed');
    expect(documents()[0]).toMatchObject(change);
  });

  test('withdraws a note that the server has stored anew without changing it', async () => {
    const { server, write, documents, withdraw } = await start();
    const operationId = randomUUID();
    await write({ operationId, title: 'x', authorId: 'r-1' });
    server.store.save(documents()[0] as FhirResource);
    expect(await withdraw(operationId)).toBe('withdrawn');
    expect(documents()).toMatchObject([{ status: 'entered-in-error', meta: { versionId: '3' } }]);
  });

  test('does not overwrite a change at the same time', async () => {
    const { server, write, documents, withdraw } = await start();
    const operationId = randomUUID();
    await write({ operationId });
    server.misbehave = ({ method }) => {
      if (method !== 'PUT') return undefined;
      server.misbehave = () => undefined;
      server.store.save({ ...documents()[0], description: 'by staff' } as FhirResource);
      return undefined;
    };
    expect(await withdraw(operationId)).toBe('changed');
    expect(documents()).toMatchObject([{ status: 'current', description: 'by staff' }]);
  });
});
