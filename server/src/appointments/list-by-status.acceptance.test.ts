/** @module-tag any-database */
import { ConnectorError } from '@crossward/connector-kit';
import { afterAll, describe, expect, test } from 'vitest';
import { checking, withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, withTolerantBreakers, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, book, freeSlots, idsIn, pagesOf } from '../../../test/requests/bookings.ts';
import { careUnitOf, codeFor, confirmationOf, rowsOf } from '../../../test/requests/codes.ts';

const policies = { limits_per_patient: { pending: 100, codes_per_hour: 100 } };
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      if (emr === 'no-hold') return withoutHolds(connector);
      if (emr !== 'holds-on') return connector;
      // Background jobs do not matter: the EHR keeps its holds after they have expired.
      return checking(connector, ({ changes }) => {
        if (changes.some(({ kind }) => kind === 'release')) throw new ConnectorError('unavailable', 'down');
      });
    }),
  ],
  configure: (demo) =>
    withTolerantBreakers(
      ['holds-on', 'no-hold'].reduce((some, id) => withEhr(some, { id, like: 'sandbox-se', policies }), demo),
    ),
});
afterAll(() => gateway.close());

const statuses = ['awaiting_confirmation', 'booked', 'cancelled'] as const;
const choices = [1, 2, 3, 4, 5, 6, 7].map((bits) => statuses.filter((_, index) => bits & (1 << index)));

describe.each([
  ['an EHR that keeps expired holds', 'holds-on'],
  ['an EHR without holds', 'no-hold'],
])('before %s', (_, emr) => {
  const path = careUnitPath(emr, 'sodermalm');
  const { get, confirm, cancel } = careUnitOf(gateway, path);
  const patientId = 'p-9';

  /** Two of each: booked, awaiting confirmation, expired, cancelled. */
  async function some(): Promise<readonly Appointment[]> {
    const ids: string[] = [];
    for (const [index, slot] of (await freeSlots(gateway, { careUnit: path, limit: 12 })).entries()) {
      const made = await book(gateway, { careUnit: path, slot, patientId });
      const kind = index % 4;
      if (kind === 0 || kind === 3) await confirm(made.id, await codeFor(gateway, made.id));
      if (kind === 3) await cancel(made.id);
      if (kind === 2) {
        const { id } = confirmationOf(made);
        await rowsOf(gateway, 'UPDATE confirmations SET expires_at = clock_timestamp() WHERE id = $1', [id]);
      }
      ids.push(made.id);
    }
    return Promise.all(ids.map(get));
  }

  test('a list contains the appointments that are shown with the requested status, page by page', async () => {
    const all = await some();
    expect(all.map(({ status }) => status).slice(0, 4)).toEqual([
      'booked',
      'awaiting_confirmation',
      'cancelled',
      'cancelled',
    ]);
    for (const wanted of choices) {
      const expected = all.filter(({ status }) => wanted.includes(status));
      for (const limit of [1, 2, 100]) {
        const query = new URLSearchParams([
          ['patient_id', patientId],
          ['limit', String(limit)],
          ...wanted.map((status): [string, string] => ['status', status]),
        ]);
        const pages = await pagesOf<Appointment>(gateway, `${path}/appointments?${query}`, 'appointments');
        expect(idsIn(pages.flat()), `${query}`).toEqual(idsIn(expected));
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
        for (const { status } of pages.flat()) expect(wanted).toContain(status);
      }
    }
  });
});
