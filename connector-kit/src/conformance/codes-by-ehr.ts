import { randomUUID } from 'node:crypto';
import { capability } from './check.ts';
import { expectRejection, expectSame, expectThat, given, operation } from './expect.ts';
import { book, creation, freeSlot, isFree, mustRead } from './steps.ts';
import type { Subject } from './subject.ts';

function withOperationId({ careUnit }: Subject) {
  return { operationId: randomUUID(), careUnit };
}

async function newestCode({ codeSent }: Subject, reference: string): Promise<string> {
  return given(codeSent, 'the codes that the EHR sends cannot be read in this run')(reference);
}

/** An incorrect code of the same format. */
function incorrect(code: string): string {
  return code.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
}

async function request(subject: Subject) {
  const slot = await freeSlot(subject);
  const requestBooking = operation(subject.connector, 'requestBooking');
  const confirmation = await requestBooking({ ...withOperationId(subject), creation: await creation(subject, slot) });
  return { slot, confirmation };
}

export const codesByEhr = capability('codes-by-ehr', ({ capabilities }) => capabilities.sendsCodes, {
  'holds the time until the code is confirmed, then books it': async (subject) => {
    const { slot, confirmation } = await request(subject);
    expectSame(confirmation.appointment.state, 'held', 'State while the code is awaited');
    expectThat(confirmation.expiresAt.getTime() > Date.now(), 'The code is expired when it is sent');
    expectThat(!(await isFree(subject, slot)), 'A time that awaits a code is listed as free');
    const { reference } = confirmation;
    const code = await newestCode(subject, reference);
    const booked = await operation(subject.connector, 'confirmCode')({ ...withOperationId(subject), reference, code });
    expectSame(booked.state, 'booked', 'State after the code is confirmed');
    expectSame((await mustRead(subject, booked.id)).state, 'booked', 'State, read again');
  },

  'rejects an incorrect code and decrements the remaining attempts': async (subject) => {
    const { confirmation } = await request(subject);
    const { reference, attemptsRemaining } = confirmation;
    const code = incorrect(await newestCode(subject, reference));
    const confirm = operation(subject.connector, 'confirmCode')({ ...withOperationId(subject), reference, code });
    const [outcome] = await Promise.allSettled([confirm]);
    await expectRejection(Promise.resolve(confirm), 'code_incorrect', 'An incorrect code');
    const left = outcome.status === 'rejected' ? outcome.reason.attemptsRemaining : undefined;
    expectSame(left, attemptsRemaining - 1, 'Attempts remaining after an incorrect code');
    const { state } = await mustRead(subject, confirmation.appointment.id);
    expectSame(state, 'held', 'State after an incorrect code');
  },

  'resending a code invalidates the previous one': async (subject) => {
    const { confirmation } = await request(subject);
    const old = await newestCode(subject, confirmation.reference);
    const { reference } = await operation(
      subject.connector,
      'resendCode',
    )({ ...withOperationId(subject), reference: confirmation.reference });
    const fresh = await newestCode(subject, reference);
    const confirmCode = operation(subject.connector, 'confirmCode');
    if (fresh !== old) {
      const late = confirmCode({ ...withOperationId(subject), reference, code: old });
      await expectRejection(late, ['code_incorrect', 'code_expired'], 'A code that was replaced by a new one');
    }
    expectSame((await confirmCode({ ...withOperationId(subject), reference, code: fresh })).state, 'booked', 'State');
  },

  'an appointment stays booked until its cancellation is confirmed': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await book(subject, { slot });
    const cancellation = { kind: 'cancel', appointmentId: id } as const;
    const { reference, appointment } = await operation(
      subject.connector,
      'requestCancellation',
    )({ ...withOperationId(subject), cancellation });
    expectSame(appointment.state, 'booked', 'State while the code is awaited');
    const code = await newestCode(subject, reference);
    const cancelled = await operation(
      subject.connector,
      'confirmCode',
    )({ ...withOperationId(subject), reference, code });
    expectSame(cancelled.state, 'cancelled', 'State after the code is confirmed');
    expectThat(await isFree(subject, slot), 'The time of a cancelled appointment is not free');
  },
});
