import { stringify } from 'yaml';
import { allOrNothing, patientsBy } from '../ehr/abilities.ts';
import { connectionFindings, type EmrCheck } from '../ehr/check-connection.ts';

export function formatCheck(check: EmrCheck): string {
  const { emr, connector, probe, claims, error } = check;
  const lines = [`EHR ${emr} (${connector})`, ''];
  const findings = connectionFindings(check);
  const width = Math.max(...findings.map(({ name }) => name.length), 0);
  for (const { name, status, detail } of findings) {
    lines.push(`  ${status.padEnd(8)} ${name.padEnd(width)}  ${detail}`);
  }
  if (!probe) lines.push('  This connector has no probe; its server was not checked.');
  // A probe that failed has told why already.
  const isTold = probe?.findings.some(({ status }) => status === 'problem') ?? false;
  if (!(claims || isTold)) lines.push('', `The connection cannot be opened: ${error}`);
  if (claims) {
    lines.push(
      '',
      'Capabilities',
      `  patients         ${patientsBy(claims)}`,
      ...(claims.patientDetails ? [`  patient details  ${claims.patientDetails}`] : []),
      ...(claims.slotsByPatient ? [`  slots by patient ${claims.slotsByPatient}`] : []),
      ...(claims.requestsPerSecond
        ? [`  requests         ${claims.requestsPerSecond} a second, unless configured`]
        : []),
      `  resources by     ${claims.resourceIdentifierTypes.join(', ')}`,
      `  operations       ${claims.operations.join(', ')}`,
      `  changes          ${claims.changes.join(', ') || 'none'}`,
      `  all or nothing   ${allOrNothing(claims)}`,
      `  staff's changes  ${claims.operations.includes('listAppointmentChanges') ? 'reported as events' : 'not reported'}`,
    );
  }
  if (probe && Object.keys(probe.recommendedSettings).length > 0) {
    const yaml = stringify({ settings: probe.recommendedSettings }).trimEnd();
    lines.push('', 'Recommended', ...yaml.split('\n').map((line) => `  ${line}`));
  }
  return `${lines.join('\n')}\n`;
}
