import { ConnectorError, type EhrHttp, type ProbeReport } from '@crossward/connector-kit';
import { findPatient } from './patients.ts';

/**
 * Tests the EHR for `crossward emr check` and `crossward doctor`: whether it answers a search, for a patient who does not
 * exist. Add a finding for each right and setting that your EHR needs. The text of a ConnectorError is shown to operators.
 */
export async function probe(http: EhrHttp, baseUrl: string): Promise<ProbeReport> {
  const name = 'patient search';
  try {
    await findPatient(http, baseUrl, { type: 'emr_id', value: 'probe' });
    return {
      findings: [{ name, status: 'ok', detail: 'The EHR answers a search for patients.' }],
      recommendedSettings: {},
    };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return { findings: [{ name, status: 'problem', detail: `${error.message}.` }], recommendedSettings: {} };
  }
}
