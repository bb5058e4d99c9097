import { randomUUID } from 'node:crypto';
import type { ConnectorContext, ProbeReport } from '@crossward/connector-kit';
import { dateIn, probeSteps, rightToWrite } from '@crossward/connector-kit/rest';
import { type At, openEhr } from './ehr.ts';
import { configOf, findPatient, typesOf } from './patients.ts';
import type { CareSettings } from './settings.ts';
import { freeSlotsOf, listTimeSlots } from './time-slots.ts';

const days = 31;

/** `crossward emr check`. */
export async function probe(context: ConnectorContext<CareSettings>): Promise<ProbeReport> {
  const { findings, step } = probeSteps();
  const ehr = await step('sign-in', async (report) => {
    const opened = openEhr(context);
    await opened.client.get('users/getcurrentuser/');
    report('ok', 'The server can be reached, and the user can sign in.');
    return opened;
  });
  if (ehr) {
    for (const type of typesOf(ehr)) {
      await step(`numbers: ${type}`, async (report) => {
        await configOf(ehr, type);
        // A number that nobody has shows whether the search tells whom it finds.
        await findPatient(ehr, { type, value: '0' });
        report('ok', 'The EHR has an identifier configuration with this system, and finds people by it.');
      });
    }
    for (const careUnit of context.careUnits) {
      const name = `care unit ${careUnit.id}`;
      const at = ehr.at(careUnit);
      await step(name, async (report) => {
        const { resources } = await at.lists.get();
        if (resources.length === 0) return report('problem', 'Nobody in the facility has a schedule.');
        return report('ok', `${resources.length} practitioners and locations can be booked.`);
      });
      await step(`${name}: booking`, async (report) => report(...(await canBook(at))));
    }
  }
  return { findings, recommendedSettings: {} };
}

/** A booking for a patient who does not exist is refused, for another reason if the user has no right to book. */
async function canBook(at: At): ReturnType<typeof rightToWrite> {
  const { careUnit, client, unit } = at;
  const start = at.now();
  const end = new Date(start.getTime() + days * 24 * 60 * 60 * 1000);
  const [slot] = await listTimeSlots(at, { careUnit, start, end, limit: 1 });
  const resource = (await at.lists.get()).resources.find(({ id }) => id === slot?.resourceId);
  if (!slot || !resource) return ['untried', `There is no free time in the next ${days} days.`];
  const free = await freeSlotsOf(at, [resource], dateIn(careUnit.timeZone, slot.start), []);
  const path = `facility/${unit.facility}/slots/${free[0]?.id}/create_appointment/`;
  return rightToWrite(() => client.write(path, { patient: randomUUID(), note: '' }));
}
