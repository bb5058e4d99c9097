import type { ConfiguredCareUnit, ConnectorContext, DirectChanges, EhrHttp } from '@crossward/connector-kit';
import type { Subject } from '@crossward/connector-kit/conformance';
import { gnuHealthConnector } from '../../connectors/gnuhealth/src/connector.ts';
import type { GnuHealthSettings } from '../../connectors/gnuhealth/src/settings.ts';
import { lengthHttp } from '../../connectors/gnuhealth/test/subject.ts';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePatientPage } from '../../server/src/config/schema/patient-page.ts';
import { resolvePolicies } from '../../server/src/config/schema/policies.ts';

/** A GNU Health, the fake or a real one, and what is in it. */
export interface Site {
  readonly settings: GnuHealthSettings;
  /** Somebody at the desk. */
  readonly desk: Pick<GnuHealthSettings, 'user' | 'password'>;
  readonly institutions: { readonly north: number; readonly south: number };
  readonly specialty: number;
  readonly professionals: { readonly ada: number; readonly cleo: number };
  readonly patients: { readonly kari: number; readonly ola: number };
  readonly kariNumber: string;
  stop(): Promise<void>;
}

const timeZone = 'Europe/Oslo';

function careUnits({ institutions }: Site): [ConfiguredCareUnit, ConfiguredCareUnit] {
  const { north, south } = institutions;
  return [
    { id: 'north', timeZone, settings: { institution: north } },
    { id: 'south', timeZone, settings: { institution: south } },
  ];
}

export function contextOf(
  site: Site,
  settings: Partial<GnuHealthSettings> = {},
  http: EhrHttp = lengthHttp(),
): ConnectorContext<GnuHealthSettings> {
  const now = () => new Date();
  return { emr: 'hospital', settings: { ...site.settings, ...settings }, careUnits: careUnits(site), http, now };
}

/** What somebody at the desk does. */
export async function staffOf(site: Site): Promise<DirectChanges> {
  const changes = await gnuHealthConnector.directChanges?.(contextOf(site, site.desk));
  if (!changes) throw new Error('The connector has no direct changes');
  return changes;
}

/** The demo's configuration with this site in the place of its EHRs. */
export function withSite(demo: Configuration, { settings, institutions }: Site, url: string): Configuration {
  const policies = resolvePolicies({});
  const place = { time_zone: timeZone, language: 'en', policies, patient_page: resolvePatientPage() } as const;
  const hospital = {
    id: 'hospital',
    name: 'Hospital',
    connector: 'gnuhealth',
    settings: { ...settings, base_url: url },
    synthetic_identifiers: true,
    connection: resolveConnection({ allow_private_addresses: true, changes_seconds: 0.2 }),
    policies,
    care_units: [
      { ...place, id: 'north', name: 'North', settings: { institution: institutions.north } },
      { ...place, id: 'south', name: 'South', settings: { institution: institutions.south } },
    ],
  };
  const grants = [{ emr: 'hospital', care_units: ['north', 'south'] }];
  return { ...demo, emrs: [hospital], clients: demo.clients.map((client) => ({ ...client, grants })) };
}

/** A site for the conformance kit. */
export async function subjectOf(name: string, site: Site): Promise<Subject> {
  let http = lengthHttp();
  let connector = await gnuHealthConnector.open(contextOf(site, {}, http));
  const [careUnit, otherCareUnit] = careUnits(site);
  return {
    name,
    get connector() {
      return connector;
    },
    careUnit,
    otherCareUnit,
    facts: {
      patient: [
        { type: 'emr_id', value: String(site.patients.kari) },
        { type: 'no_personal_number', value: site.kariNumber },
      ],
      otherPatientId: String(site.patients.ola),
      resource: [{ type: 'emr_id', value: String(site.professionals.ada) }],
      foreignResourceId: String(site.professionals.cleo),
      healthcareServiceId: String(site.specialty),
      oneSlotOnly: true,
    },
    second: await gnuHealthConnector.open(contextOf(site)),
    async restart() {
      http.cut();
      http = lengthHttp();
      connector = await gnuHealthConnector.open(contextOf(site, {}, http));
    },
    directChanges: await staffOf(site),
  };
}
