import { randomUUID } from 'node:crypto';
import type { ConnectorContext, ProbeReport } from '@crossward/connector-kit';
import { probeSteps, rightToWrite } from '@crossward/connector-kit/rest';
import { openClinic } from './clinic.ts';
import { listHealthcareServices } from './resources.ts';
import type { Settings } from './settings.ts';

/**
 * Tests the EHR for `crossward emr check` and `crossward doctor`: whether the user can sign in, whether it lists its services, and
 * whether the user may book. The text of a ConnectorError is shown to operators.
 */
export async function probe(context: ConnectorContext<Settings>): Promise<ProbeReport> {
  const { findings, step } = probeSteps();
  const clinic = await step('services', async (report) => {
    const opened = openClinic(context);
    const { length } = await listHealthcareServices(opened);
    report(length > 0 ? 'ok' : 'warning', `The EHR lists ${length} services.`);
    return opened;
  });
  for (const { client, careUnit, unit } of clinic ? context.careUnits.map(clinic.at) : []) {
    await step(`care unit ${careUnit.id}: right to book`, async (report) => {
      // An appointment that does not exist.
      report(...(await rightToWrite(() => client.write(`/appointments/${randomUUID()}/change`, unit))));
    });
  }
  return { findings, recommendedSettings: {} };
}
