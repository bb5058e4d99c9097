import { afterAll, expect, test } from 'vitest';
import { type FakeServer, startFake } from '../../../connectors/fhir-r4/fake/server.ts';
import { fhirSubject, settingsFor } from '../../../connectors/fhir-r4/test/subject.ts';
import type { AppointmentWrite } from '../connector.ts';
import { outcomeOf, withDefects } from './broken.test-support.ts';
import type { Subject } from './subject.ts';

const server = await startFake({ data: { days: 14 } });
const correct = await fhirSubject('correct', settingsFor(server.url), server.close);
afterAll(() => correct.close?.());

const checks = [
  ['cancellation', 'a cancellation does not free a time that the EHR has booked twice'],
  ['move', 'a move does not free a time that the EHR has booked twice'],
] as const;

test.each(checks)('a correct connector keeps a time that is booked twice after a %s', async (_, check) => {
  expect(await outcomeOf(correct, 'concurrent-edits', check)).toMatchObject({ outcome: 'passed' });
});

test.each(checks)('the kit catches a connector that frees a time that is booked twice by a %s', async (_, check) => {
  const result = await outcomeOf(freeing(correct, server), 'concurrent-edits', check);
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('listed as free') });
});

/** A connector that frees every Slot of an appointment that leaves it, without a look at other appointments. */
function freeing(subject: Subject, { store }: FakeServer): Subject {
  return withDefects(subject, (right) => ({
    async changeAppointments(write: AppointmentWrite) {
      const left = write.changes.flatMap((change) =>
        change.kind === 'cancel' || (change.kind === 'update' && change.time)
          ? ((store.get(`Appointment/${change.appointmentId}`) as { slot?: { reference: string }[] }).slot ?? [])
          : [],
      );
      const made = await right.changeAppointments(write);
      for (const { reference } of left) store.save({ ...store.get(reference), status: 'free' } as never);
      return made;
    },
  }));
}
