import type { ProbeFinding } from '@crossward/connector-kit';
import { stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import type { ConfiguredEmr } from '../config/configuration.ts';
import { type Ability, abilitiesOf } from './abilities.ts';
import { connectionFindings, type EmrCheck, isConnectionWell } from './check-connection.ts';

/** What to hand over about the connection to an EHR. It has no secret and no data of patients. */
export interface EmrReport {
  readonly name: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly isWell: boolean;
  /** Why the connection cannot be opened. Absent: it can. */
  readonly error?: string;
  readonly can: readonly Ability[];
  readonly cannot: readonly Ability[];
  /** What callers and staff have to know. */
  readonly limits: readonly string[];
  readonly findings: readonly ProbeFinding[];
  readonly careUnits: readonly (readonly [name: string, facts: string])[];
  /** YAML, as in the configuration file, with `[secret]` in place of each secret. */
  readonly settings: string;
}

/** @param at when the check was made */
export function reportOf(emr: ConfiguredEmr, check: EmrCheck, at: Date): EmrReport {
  const { claims, error } = check;
  const abilities = claims ? abilitiesOf(claims) : [];
  return {
    name: emr.name,
    facts: [
      ['Id', emr.id],
      ['Connector', emr.connector],
      ['Checked', at.toISOString()],
      ['Crossward', packageJson.version],
    ],
    isWell: isConnectionWell(check),
    ...(error !== undefined && { error }),
    can: abilities.filter(({ isThere }) => isThere),
    cannot: abilities.filter(({ isThere }) => !isThere),
    limits: claims ? limitsOf(claims) : [],
    findings: connectionFindings(check),
    careUnits: emr.care_units.map(({ id, name, time_zone, language, policies }) => [
      name,
      [id, time_zone, language, `bookings: ${coded(policies.booking_confirmation)}`].join(', ') +
        `, cancellations: ${coded(policies.cancellation_confirmation)}`,
    ]),
    settings: shownSettings(emr),
  };
}

function coded(confirmation: 'none' | 'code'): string {
  return confirmation === 'code' ? 'with a code' : 'without a code';
}

function limitsOf(claims: NonNullable<EmrCheck['claims']>): string[] {
  const { commentLength, commentsWithoutEmoji, lastWriteWins, requestsPerSecond } = claims;
  return [
    ...(commentLength === undefined ? [] : [`A comment has at most ${commentLength} characters.`]),
    ...(commentsWithoutEmoji ? ['A comment has no emoji.'] : []),
    ...(lastWriteWins ? ['What staff write in the same moment can be lost, but no cancellation.'] : []),
    ...(requestsPerSecond === undefined
      ? []
      : [`The EHR gets ${requestsPerSecond} requests a second from all gateways together, unless configured.`]),
  ];
}

/** What a header says can be a credential, although nobody has made it a secret. */
function shownSettings({ connector, settings, connection, care_units }: ConfiguredEmr): string {
  const shown = {
    connector,
    connection,
    settings,
    care_units: care_units.map(({ id, settings }) => ({ id, settings })),
  };
  const text = JSON.stringify(shown, (key, value: unknown) => (key === 'headers' ? namesOf(value) : value));
  return stringify(JSON.parse(text));
}

function namesOf(headers: unknown): unknown {
  return typeof headers === 'object' && headers !== null ? Object.keys(headers) : undefined;
}
