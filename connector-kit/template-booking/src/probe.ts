import { randomUUID } from 'node:crypto';
import type { ConnectorContext, ProbeReport } from '@crossward/connector-kit';
import { probeSteps, rightToWrite } from '@crossward/connector-kit/rest';
import { appointmentKind } from './appointment-reads.ts';
import { openClinic } from './clinic.ts';
import type { Settings } from './ehr-client.ts';
import { listHealthcareServices } from './resources.ts';

/**
 * Tests the EHR for `crossward emr check` and `crossward doctor`: whether the user can sign in, whether it lists its services, and
 * whether the user may book. The text of a ConnectorError is shown to operators.
 */
export async function probe(context: ConnectorContext<Settings>): Promise<ProbeReport> {
  const { findings, step } = probeSteps();
  const { client } = openClinic(context);
  const services = await step('services', async (report) => {
    const found = await listHealthcareServices(client);
    report(found.length > 0 ? 'ok' : 'warning', `The EHR lists ${found.length} services.`);
    return found;
  });
  for (const careUnit of services ? context.careUnits : []) {
    await step(`care unit ${careUnit.id}: right to book`, async (report) => {
      // An appointment that does not exist.
      const path = `/appointments/${randomUUID()}/change`;
      report(...(await rightToWrite(() => client.write(path, { department: careUnit.id }, appointmentKind))));
    });
  }
  return { findings, recommendedSettings: {} };
}
