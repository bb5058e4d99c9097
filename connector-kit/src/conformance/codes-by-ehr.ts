import { randomUUID } from 'node:crypto';
import { capability } from './check.ts';
import { expectRefusal, expectSame, expectThat, given, operation } from './expect.ts';
import { book, creation, freeSlot, isFree, mustRead } from './scene.ts';
import type { Subject } from './subject.ts';

function as({ careUnit }: Subject) {
  return { operationId: randomUUID(), careUnit };
}

async function newestCode({ codeSent }: Subject, reference: string): Promise<string> {
  return given(codeSent, 'the subject cannot see the codes that the EHR sends')(reference);
}

/** A code of the same form that is not the right one. */
function wrong(code: string): string {
  return code.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
}

async function request(subject: Subject) {
  const slot = await freeSlot(subject);
  const requestBooking = operation(subject.connector, 'requestBooking');
  const confirmation = await requestBooking({ ...as(subject), creation: await creation(subject, slot) });
  return { slot, confirmation };
}

export const codesByEhr = capability('codes-by-ehr', ({ capabilities }) => capabilities.sendsCodes, {
  'keep the time until the code has come, then book it': async (subject) => {
    const { slot, confirmation } = await request(subject);
    expectSame(confirmation.appointment.state, 'held', 'State while the code is awaited');
    expectThat(confirmation.expiresAt.getTime() > Date.now(), 'A code has expired before it is sent');
    expectThat(!(await isFree(subject, slot)), 'A time whose code is awaited is shown as free');
    const { reference } = confirmation;
    const code = await newestCode(subject, reference);
    const booked = await operation(subject.connector, 'confirmCode')({ ...as(subject), reference, code });
    expectSame(booked.state, 'booked', 'State once the code has come');
    expectSame((await mustRead(subject, booked.id)).state, 'booked', 'State, read back');
  },

  'refuse a wrong one and count it': async (subject) => {
    const { confirmation } = await request(subject);
    const { reference, attemptsRemaining } = confirmation;
    const code = wrong(await newestCode(subject, reference));
    const confirm = operation(subject.connector, 'confirmCode')({ ...as(subject), reference, code });
    const [outcome] = await Promise.allSettled([confirm]);
    await expectRefusal(Promise.resolve(confirm), 'code_incorrect', 'A wrong code');
    const left = outcome.status === 'rejected' ? outcome.reason.attemptsRemaining : undefined;
    expectSame(left, attemptsRemaining - 1, 'Attempts left after a wrong code');
    const { state } = await mustRead(subject, confirmation.appointment.id);
    expectSame(state, 'held', 'State after a wrong code');
  },

  'can be sent anew, and the old one is dead': async (subject) => {
    const { confirmation } = await request(subject);
    const old = await newestCode(subject, confirmation.reference);
    const { reference } = await operation(
      subject.connector,
      'resendCode',
    )({ ...as(subject), reference: confirmation.reference });
    const fresh = await newestCode(subject, reference);
    const confirmCode = operation(subject.connector, 'confirmCode');
    if (fresh !== old) {
      const late = confirmCode({ ...as(subject), reference, code: old });
      await expectRefusal(late, ['code_incorrect', 'code_expired'], 'A code that a fresh one replaces');
    }
    expectSame((await confirmCode({ ...as(subject), reference, code: fresh })).state, 'booked', 'State');
  },

  'leave an appointment booked until its cancellation is confirmed': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await book(subject, { slot });
    const cancellation = { kind: 'cancel', appointmentId: id } as const;
    const { reference, appointment } = await operation(
      subject.connector,
      'requestCancellation',
    )({ ...as(subject), cancellation });
    expectSame(appointment.state, 'booked', 'State while the code is awaited');
    const code = await newestCode(subject, reference);
    const cancelled = await operation(subject.connector, 'confirmCode')({ ...as(subject), reference, code });
    expectSame(cancelled.state, 'cancelled', 'State once the code has come');
    expectThat(await isFree(subject, slot), 'The time of an appointment cancelled by code is not free');
  },
});
