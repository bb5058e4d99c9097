/** @module-tag any-database */
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, describe, expect, test } from 'vitest';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, creationBody, freeSlot, freeSlots } from '../../../test/requests/bookings.ts';
import { backdateCode, careUnitOf, confirmationOf, rowsOf } from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

interface EhrCode {
  readonly kind: 'confirm' | 'cancel';
  readonly appointmentId: string;
  readonly comment?: string | null | undefined;
  code: number;
  attemptsRemaining: number;
  isOver: boolean;
}

/** The codes that the EHR has sent, by appointment id. */
const ehrCodes = new Map<string, EhrCode>();

function sendingCodes(connector: Connector): Connector {
  const { changeAppointments, findAppointments } = connector;
  if (!changeAppointments || !findAppointments) throw new Error('The EHR takes no changes');
  const expiresAt = () => new Date(Date.now() + 900_000);
  const known = (reference: string) => {
    const found = ehrCodes.get(reference);
    if (!found) throw new ConnectorError('appointment_not_found', 'No such confirmation');
    return found;
  };
  const only = ([appointment]: Awaited<ReturnType<typeof findAppointments>>) => {
    if (!appointment) throw new ConnectorError('appointment_not_found', 'No such appointment');
    return appointment;
  };
  return {
    ...connector,
    capabilities: { ...connector.capabilities, sendsCodes: true },
    async requestBooking({ operationId, careUnit, creation }) {
      const holdUntil = expiresAt();
      const appointment = only(
        await changeAppointments({ operationId, careUnit, changes: [{ ...creation, holdUntil }] }),
      );
      const attemptsRemaining = 3;
      const { id: reference } = appointment;
      ehrCodes.set(reference, {
        kind: 'confirm',
        appointmentId: reference,
        code: 111_111,
        attemptsRemaining,
        isOver: false,
      });
      return { reference, appointment, channel: 'sms', expiresAt: holdUntil, attemptsRemaining };
    },
    async requestCancellation({ careUnit, cancellation: { appointmentId, comment } }) {
      const appointment = only(await findAppointments(careUnit, [appointmentId]));
      const attemptsRemaining = 3;
      ehrCodes.set(appointmentId, {
        kind: 'cancel',
        appointmentId,
        comment,
        code: 111_111,
        attemptsRemaining,
        isOver: false,
      });
      return { reference: appointmentId, appointment, channel: 'email', expiresAt: expiresAt(), attemptsRemaining };
    },
    async resendCode({ careUnit, reference }) {
      const sent = known(reference);
      sent.code += 111_111;
      const appointment = only(await findAppointments(careUnit, [sent.appointmentId]));
      const { attemptsRemaining } = sent;
      return { reference, appointment, channel: 'email', expiresAt: expiresAt(), attemptsRemaining };
    },
    async confirmCode({ operationId, careUnit, reference, code }) {
      const sent = known(reference);
      const { kind, appointmentId, comment } = sent;
      if (sent.isOver) throw new ConnectorError('code_expired', 'Too late');
      if (sent.attemptsRemaining === 0) throw new ConnectorError('code_locked', 'Too often');
      if (code !== String(sent.code)) {
        sent.attemptsRemaining -= 1;
        throw new ConnectorError('code_incorrect', 'Wrong', { attemptsRemaining: sent.attemptsRemaining });
      }
      const change = kind === 'confirm' ? { kind, appointmentId } : { kind, appointmentId, comment };
      return only(await changeAppointments({ operationId, careUnit, changes: [change] }));
    },
  };
}

const gateway = await startGateway({
  connectors: [wrapConnector((connector, emr) => (emr === 'own-codes' ? sendingCodes(connector) : connector))],
  configure: (demo) =>
    withEhr(demo, {
      id: 'own-codes',
      like: 'sandbox-uk',
      policies: { booking_confirmation: 'code', cancellation_confirmation: 'code' },
    }),
});
afterAll(() => gateway.close());

describe('an EHR that sends and checks codes itself', () => {
  const path = careUnitPath('own-codes', 'riverside');
  const careUnit = careUnitOf(gateway, path);

  const gatewayMessages = () => rowsOf(gateway, `SELECT FROM messages WHERE emr = 'own-codes'`);
  const sentFor = (id: string) => {
    const sent = ehrCodes.get(id);
    if (!sent) throw new Error('The EHR has sent no code');
    return sent;
  };
  const bookByEhrCode = async () => {
    const held = await book(gateway, { careUnit: path, comment: 'old' });
    const { status, body } = await careUnit.confirm(held.id, '111111');
    expect(status).toBe(200);
    return body;
  };

  test("books with the EHR's code, and the gateway sends none", async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const held = await book(gateway, { careUnit: path, slot });
    expect(held).toMatchObject({
      status: 'awaiting_confirmation',
      confirmation: { kind: 'booking', channel: 'sms', delivery: 'sent', attempts_remaining: 3 },
    });
    expect(await careUnit.get(held.id)).toEqual(held);
    expect(await careUnit.list('patient_id=p-3&status=awaiting_confirmation')).toContainEqual(held);
    expect((await freeSlots(gateway, { careUnit: path })).map(({ start }) => start)).not.toContain(slot.start);
    const { status, body } = await careUnit.confirm(held.id, '111111');
    expect(status).toBe(200);
    expect(body).toEqual({ ...held, status: 'booked', confirmation: null });
    expect(await careUnit.get(held.id)).toEqual(body);
    expect(await careUnit.confirm(held.id, '111111')).toMatchObject({ status: 200, body });
    expectProblem(await careUnit.confirm(held.id, '222222'), 409, 'confirmation_not_pending');
    expect(await gatewayMessages()).toEqual([]);
  });

  test('reports an incorrect code and the remaining attempts', async () => {
    const held = await book(gateway, { careUnit: path });
    for (const attempts_remaining of [2, 1, 0]) {
      expect(await careUnit.confirm(held.id, '999999')).toMatchObject({
        status: 400,
        body: { reason: 'confirmation_code_incorrect', attempts_remaining },
      });
    }
    expectProblem(await careUnit.confirm(held.id, '111111'), 409, 'confirmation_locked');
    expect(await careUnit.get(held.id)).toMatchObject({ status: 'awaiting_confirmation' });
    // A release needs no code.
    expect(await careUnit.cancel(held.id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  test('reports an expired code', async () => {
    const held = await book(gateway, { careUnit: path });
    sentFor(held.id).isOver = true;
    expectProblem(await careUnit.confirm(held.id, '111111'), 409, 'confirmation_expired');
  });

  test("cancels with the EHR's code under a new id", async () => {
    const booked = await bookByEhrCode();
    const { body: view } = await careUnit.cancel(booked.id, { comment: 'why' });
    expect(view).toEqual({
      ...booked,
      id: view.id,
      status: 'awaiting_confirmation',
      replaces_id: booked.id,
      confirmation: expect.objectContaining({ kind: 'cancellation', channel: 'email', delivery: 'sent' }),
    });
    expect(view.id).not.toBe(booked.id);
    expect(await careUnit.get(booked.id)).toEqual(booked);
    expect((await careUnit.cancel(booked.id)).body.id).toBe(view.id);
    expect(await careUnit.confirm(view.id, '999999')).toMatchObject({ status: 400, body: { attempts_remaining: 2 } });
    expectProblem(await careUnit.confirm(booked.id, '333333'), 409, 'confirmation_not_pending');
    expect(await careUnit.confirm(view.id, '111111')).toMatchObject({
      status: 200,
      body: { id: view.id, status: 'cancelled', comment: 'why', replaces_id: booked.id },
    });
    expect(await careUnit.get(booked.id)).toEqual({ ...booked, status: 'cancelled', comment: 'why' });
    expect(await gatewayMessages()).toEqual([]);
  });

  test('resends a code', async () => {
    const held = await book(gateway, { careUnit: path });
    expectProblem(await careUnit.resend(held.id), 429, 'rate_limited');
    await backdateCode(gateway, confirmationOf(held).id, 31);
    expect(await careUnit.resend(held.id)).toMatchObject({
      status: 202,
      body: { id: held.id, confirmation: { channel: 'email', delivery: 'sent', attempts_remaining: 3 } },
    });
    expect(await careUnit.confirm(held.id, '111111')).toMatchObject({ status: 400, body: { attempts_remaining: 2 } });
    expect(await careUnit.confirm(held.id, '222222')).toMatchObject({ status: 200, body: { status: 'booked' } });
    expect(await gatewayMessages()).toEqual([]);
  });

  test('is not called for the code of another client', async () => {
    const theirs = careUnitOf(gateway, path, 'appointments:write');
    const held = await book(gateway, { careUnit: path });
    const booked = await bookByEhrCode();
    const { body: view } = await careUnit.cancel(booked.id);
    for (const { id, confirmation } of [held, view]) {
      await backdateCode(gateway, confirmationOf({ ...held, confirmation }).id, 31);
      for (const code of ['999999', '111111']) {
        expectProblem(await theirs.confirm(id, code), 409, 'confirmation_not_pending');
      }
      expectProblem(await theirs.resend(id), 409, 'confirmation_not_pending');
    }
    for (const id of [held.id, booked.id]) {
      expect(sentFor(id)).toMatchObject({ code: 111_111, attemptsRemaining: 3 });
    }
    expect(await theirs.cancel(booked.id)).toMatchObject({ status: 200, body: { id: view.id } });
    expect(await careUnit.confirm(view.id, '111111')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expectProblem(await theirs.confirm(view.id, '111111'), 409, 'confirmation_not_pending');
    expect(await theirs.cancel(held.id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  test('cannot share a code, and supports dry runs', async () => {
    const a = await bookByEhrCode();
    const b = await bookByEhrCode();
    expectProblem(await careUnit.changeMany([a.id, b.id], { status: 'cancelled' }), 501, 'operation_unsupported');
    expect(await careUnit.getAll([a.id, b.id])).toEqual([a, b]);
    const count = ehrCodes.size;
    const slot = await freeSlot(gateway, { careUnit: path });
    expect(await careUnit.create(creationBody(slot), '?dry_run=true')).toMatchObject({
      status: 200,
      body: { id: null, status: 'awaiting_confirmation', change: 'created' },
    });
    expect(await careUnit.change(a.id, { status: 'cancelled' }, '?dry_run=true')).toMatchObject({
      status: 200,
      body: { id: null, status: 'awaiting_confirmation', replaces_id: a.id, change: 'cancelled' },
    });
    expect(ehrCodes.size).toBe(count);
  });
});
