import type { ConnectorContext, ProbeReport } from '@crossward/connector-kit';
import { datesIn, probeSteps, readEach, zoned } from '@crossward/connector-kit/rest';
import { type At, openEhr } from './ehr.ts';
import { findPatient, numberType } from './patients.ts';
import type { OscarSettings } from './settings.ts';
import { partsOf } from './time-slots.ts';

const days = 14;

/** `crossward emr check`. It writes nothing. */
export async function probe(context: ConnectorContext<OscarSettings>): Promise<ProbeReport> {
  const { findings, step } = probeSteps();
  const ehr = await step('sign-in', async (report) => {
    const opened = openEhr(context);
    await opened.client.ask('Provider.getLoggedInProviderTransfer');
    report('ok', 'The server can be reached, and the user can sign in. It may book, as every user may.');
    return opened;
  });
  if (!ehr) return { findings, recommendedSettings: {} };
  await step('patients', async (report) => {
    await findPatient(ehr, { type: numberType, value: '0000000000' });
    report('ok', 'The user may read patients.');
  });
  for (const careUnit of context.careUnits) {
    const name = `care unit ${careUnit.id}`;
    const at = ehr.at(careUnit);
    await step(`${name}: clock`, async (report) => {
      const [answer] = await at.client.ask('SystemInfo.getServerTimeGmtOffset');
      const { offsetNanoseconds } = zoned(careUnit.timeZone, at.now());
      const isSame = Number(answer?.text) * 1_000_000 === offsetNanoseconds;
      return isSame
        ? report('ok', 'The server has the time zone of the care unit.')
        : report('problem', 'The server has another time zone than the care unit: all times would be wrong.');
    });
    await step(name, async (report) => {
      const lacking = await lackingIn(at);
      if (lacking.length > 0) return report('problem', `The EHR does not have ${lacking.join(', ')}.`);
      const open = await openDays(at);
      if (open === 0) return report('problem', `In the next ${days} days nobody has times with one of the codes.`);
      return report('ok', `In the next ${days} days, times can be booked on ${open} days of providers.`);
    });
  }
  return { findings, recommendedSettings: {} };
}

/** What the settings name and the EHR does not have. */
async function lackingIn(at: At): Promise<readonly string[]> {
  const { providers, codes } = at.unit;
  const { resources, services, codes: known } = await at.lists.get();
  const types = codes.flatMap(({ appointment_types = [] }) => appointment_types);
  return [
    ...providers.filter((id) => !resources.some((it) => it.id === id)).map((id) => `the provider ${id}`),
    ...codes.filter(({ code }) => !known.has(code)).map(({ code }) => `the template code ${code}`),
    ...types.filter((id) => !services.some((it) => it.id === id)).map((id) => `the appointment type ${id}`),
    ...(services.length === 0 ? ['any appointment type'] : []),
  ];
}

async function openDays(at: At): Promise<number> {
  const start = at.now();
  const dates = datesIn(at.careUnit.timeZone, { start, end: new Date(start.getTime() + days * 24 * 60 * 60 * 1000) });
  let open = 0;
  for (const { id } of (await at.lists.get()).resources) {
    const parts = await readEach(dates, (date) => partsOf(at, id, date));
    open += parts.filter(({ length }) => length > 0).length;
  }
  return open;
}
