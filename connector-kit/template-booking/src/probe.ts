import { ConnectorError, type ProbeReport } from '@crossward/connector-kit';
import type { EhrClient } from './ehr-client.ts';
import { listHealthcareServices } from './resources.ts';

/**
 * Tests the EHR for `crossward emr check` and `crossward doctor`: whether it lists its services. Add a finding for each right
 * and setting that your EHR needs. The text of a ConnectorError is shown to operators.
 */
export async function probe(ehr: EhrClient): Promise<ProbeReport> {
  const name = 'services';
  try {
    const { length } = await listHealthcareServices(ehr);
    const detail = `The EHR lists ${length} services.`;
    return { findings: [{ name, status: length > 0 ? 'ok' : 'warning', detail }], recommendedSettings: {} };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return { findings: [{ name, status: 'problem', detail: `${error.message}.` }], recommendedSettings: {} };
  }
}
