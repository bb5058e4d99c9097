import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A rule of `deploy/prometheus/alerts.yaml`. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity?: string };
  readonly annotations: { readonly summary?: string; readonly runbook_url?: string };
}

export function readAlertRules(): readonly AlertRule[] {
  const text = readFileSync(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8');
  const { groups } = parse(text) as { groups: readonly { rules: readonly AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
