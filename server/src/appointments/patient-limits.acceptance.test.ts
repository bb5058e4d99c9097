import { afterAll, describe, expect, test } from 'vitest';
import { careUnitPath, withEhr } from '../../../test/ehrs/other-ehrs.ts';
import { type Credentials, startGateway } from '../../../test/gateway/gateway.ts';
import { newCredentials, withClient } from '../../../test/gateway/other-clients.ts';
import {
  book,
  creationBody,
  freeSlot,
  freeSlots,
  isFree,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import { backdateCode, careUnitOf, codeFor, confirmationOf, rowsOf } from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const others = ['second', 'third', 'fourth'].map(newCredentials);
const [second, third, fourth] = others as [Credentials, Credentials, Credentials];

const gateway = await startGateway({
  configure: (demo) =>
    [
      { id: 'few-pending', like: 'sandbox-se', policies: { limits_per_patient: { pending: 2, codes_per_hour: 100 } } },
      { id: 'few-codes', like: 'sandbox-se', policies: { limits_per_patient: { pending: 100, codes_per_hour: 3 } } },
      { id: 'few-uk', like: 'sandbox-uk', policies: { limits_per_patient: { pending: 1, codes_per_hour: 100 } } },
    ].reduce(withEhr, others.reduce(withClient, demo)),
});
afterAll(() => gateway.close());

describe('limits for one patient', () => {
  const fewPending = careUnitPath('few-pending', 'sodermalm');
  const fewCodes = careUnitPath('few-codes', 'sodermalm');
  const held = async (emr: string, patientId: string) =>
    (await gateway.ehr(emr).appointments()).filter((it) => it.patientId === patientId && it.state === 'held');

  test('reject one unconfirmed booking too many', async () => {
    const { create, cancel, confirm } = careUnitOf(gateway, fewPending);
    const [a, b, c, d] = (await freeSlots(gateway, { careUnit: fewPending, limit: 4 })) as [Slot, Slot, Slot, Slot];
    const first = await book(gateway, { careUnit: fewPending, slot: a });
    const second = await book(gateway, { careUnit: fewPending, slot: b });
    const rejected = await create(creationBody(c));
    expectProblem(rejected, 429, 'patient_limit_reached');
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
    expect(await isFree(gateway, c, fewPending)).toBe(true);
    expect(await held('few-pending', 'p-3')).toHaveLength(2);
    // Another patient, and the same patient in another EHR, have their own limits.
    await book(gateway, { careUnit: fewPending, slot: c, patientId: 'p-5' });
    await book(gateway, { careUnit: sodermalm });
    // Confirmed and released bookings no longer count.
    await confirm(first.id, await codeFor(gateway, first.id));
    await book(gateway, { careUnit: fewPending, slot: d });
    expectProblem(
      await create(creationBody(await freeSlot(gateway, { careUnit: fewPending }))),
      429,
      'patient_limit_reached',
    );
    await cancel(second.id);
    await book(gateway, { careUnit: fewPending });
  });

  test('reject one code too many within an hour', async () => {
    const { create, cancel, resend } = careUnitOf(gateway, fewCodes);
    const bookAndCancel = async () => cancel((await book(gateway, { careUnit: fewCodes })).id);
    await bookAndCancel();
    await bookAndCancel();
    const third = await book(gateway, { careUnit: fewCodes });
    const slot = await freeSlot(gateway, { careUnit: fewCodes });
    expectProblem(await create(creationBody(slot)), 429, 'patient_limit_reached');
    expect(await isFree(gateway, slot, fewCodes)).toBe(true);
    // A resent code counts too.
    await backdateCode(gateway, confirmationOf(third).id, 31);
    const holds = async () => (await gateway.ehr('few-codes').appointments()).filter(({ id }) => id === third.id);
    const before = await holds();
    expectProblem(await resend(third.id), 429, 'patient_limit_reached');
    expect(await holds()).toEqual(before);
    await rowsOf(
      gateway,
      `UPDATE messages SET created_at = created_at - interval '61 minutes' WHERE first_appointment_id <> $1 AND emr = 'few-codes'`,
      [third.id],
    );
    expect((await resend(third.id)).status).toBe(202);
  });

  test('apply to ten concurrent requests', async () => {
    for (const [emr, careUnit, allowed] of [
      ['few-pending', fewPending, 2],
      ['few-codes', fewCodes, 3],
    ] as const) {
      const slots = await freeSlots(gateway, { careUnit, resourceId: 'r-2', limit: 10 });
      const { create } = careUnitOf(gateway, careUnit);
      const responses = await Promise.all(slots.map((slot) => create({ ...creationBody(slot), patient_id: 'p-8' })));
      expect(responses.filter(({ status }) => status === 201)).toHaveLength(allowed);
      for (const response of responses.filter(({ status }) => status !== 201)) {
        expectProblem(response, 429, 'patient_limit_reached');
      }
      expect(await held(emr, 'p-8')).toHaveLength(allowed);
    }
  });

  test('apply to cancellations, and the appointment stays booked', async () => {
    const careUnit = careUnitPath('few-uk', 'riverside');
    const { cancel, get } = careUnitOf(gateway, careUnit);
    const first = await book(gateway, { careUnit });
    const second = await book(gateway, { careUnit });
    const { body: view } = await cancel(first.id);
    expectProblem(await cancel(second.id), 429, 'patient_limit_reached');
    expect(await get(second.id)).toEqual(second);
    // A second cancellation of the first appointment creates nothing new.
    expect(await cancel(first.id)).toMatchObject({ status: 200, body: { id: view.id } });
  });

  test("are per client: one client's pending bookings do not count for another", async () => {
    const mine = careUnitOf(gateway, fewPending);
    const theirs = careUnitOf(gateway, fewPending, second);
    const slots = async () => freeSlots(gateway, { careUnit: fewPending, resourceId: 'r-3', limit: 6 });
    const patient = { patient_id: 'p-6' };
    const wanted = async () => ({ ...creationBody((await slots())[0] as Slot), ...patient });
    const first = await mine.create(await wanted());
    expect((await mine.create(await wanted())).status).toBe(201);
    expectProblem(await mine.create(await wanted()), 429, 'patient_limit_reached');
    expectProblem(await mine.create(await wanted(), '?dry_run=true'), 429, 'patient_limit_reached');
    expect((await theirs.create(await wanted(), '?dry_run=true')).status).toBe(200);
    for (let count = 0; count < 2; count++) expect((await theirs.create(await wanted())).status).toBe(201);
    expectProblem(await theirs.create(await wanted()), 429, 'patient_limit_reached');
    // Any client's release makes room for the client that booked.
    expect((await theirs.cancel(first.body.id)).status).toBe(200);
    expectProblem(await theirs.create(await wanted()), 429, 'patient_limit_reached');
    expect((await mine.create(await wanted())).status).toBe(201);
  });

  test('are per client for the codes within an hour too, including resent ones', async () => {
    const mine = careUnitOf(gateway, fewCodes);
    const theirs = careUnitOf(gateway, fewCodes, second);
    const wanted = async () => ({
      ...creationBody(await freeSlot(gateway, { careUnit: fewCodes, resourceId: 'r-3' })),
      patient_id: 'p-6',
    });
    const { body: held } = await theirs.create(await wanted());
    for (let count = 0; count < 3; count++) expect((await mine.create(await wanted())).status).toBe(201);
    expectProblem(await mine.create(await wanted()), 429, 'patient_limit_reached');
    await backdateCode(gateway, confirmationOf(held).id, 31);
    expect((await theirs.resend(held.id)).status).toBe(202);
    expect((await theirs.create(await wanted())).status).toBe(201);
    expectProblem(await theirs.create(await wanted()), 429, 'patient_limit_reached');
  });

  test('have a total of three shares for all clients together', async () => {
    for (const [careUnit, share] of [
      [fewPending, 2],
      [fewCodes, 3],
    ] as const) {
      const create = async (client?: Credentials) => {
        const slot = await freeSlot(gateway, { careUnit, resourceId: 'r-4' });
        return careUnitOf(gateway, careUnit, client).create({ ...creationBody(slot), patient_id: 'p-10' });
      };
      for (const client of [undefined, second, third]) {
        for (let count = 0; count < share; count++) expect((await create(client)).status).toBe(201);
      }
      expectProblem(await create(fourth), 429, 'patient_limit_reached');
    }
  });
});
