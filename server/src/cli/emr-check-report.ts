import type { Connector, ProbeReport } from '@crossward/connector-kit';
import { stringify } from 'yaml';

/** What `emr check` saw, and what its JSON holds. */
export interface EmrCheck {
  readonly emr: string;
  readonly connector: string;
  /** Absent where the connector cannot look at its server by itself. */
  readonly probe?: ProbeReport;
  /** `null`: the connection could not be opened; `error` says why. */
  readonly claims: (Connector['capabilities'] & { readonly operations: readonly string[] }) | null;
  readonly error?: string;
}

/** Whether the connection can be trusted as far as anybody looked. */
export function isWell({ probe, claims }: EmrCheck): boolean {
  return claims !== null && !probe?.findings.some(({ status }) => status === 'problem');
}

function allOrNothing({ transactions, changesPerTransaction: most }: Connector['capabilities']): string {
  if (!transactions) return 'no: the gateway undoes what it can';
  return most === undefined ? 'yes' : `up to ${most} changes; of more, the gateway undoes what it can`;
}

export function formatCheck({ emr, connector, probe, claims, error }: EmrCheck): string {
  const lines = [`EHR ${emr} (${connector})`, ''];
  if (probe) {
    const width = Math.max(...probe.findings.map(({ name }) => name.length), 0);
    for (const { name, status, detail } of probe.findings) {
      lines.push(`  ${status.padEnd(8)} ${name.padEnd(width)}  ${detail}`);
    }
  } else {
    lines.push('  This kind of connector does not look at its server by itself: it has not been asked for anything.');
  }
  lines.push('', claims ? 'Offers' : `The connection cannot be opened: ${error}`);
  if (claims) {
    lines.push(
      `  patients by      ${claims.patientIdentifierTypes.join(', ')}`,
      `  resources by     ${claims.resourceIdentifierTypes.join(', ')}`,
      `  operations       ${claims.operations.join(', ')}`,
      `  changes          ${claims.changes.join(', ') || 'none'}`,
      `  all or nothing   ${allOrNothing(claims)}`,
      `  sends codes      ${claims.sendsCodes ? 'yes' : 'no: the gateway does'}`,
    );
  }
  if (probe && Object.keys(probe.recommendedSettings).length > 0) {
    const yaml = stringify({ settings: probe.recommendedSettings }).trimEnd();
    lines.push('', 'Recommended', ...yaml.split('\n').map((line) => `  ${line}`));
  }
  return `${lines.join('\n')}\n`;
}
