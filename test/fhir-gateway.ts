import { expect } from 'vitest';
import { startMedplum } from '../connectors/fhir-r4/counterparts/medplum.ts';
import { timeZone } from '../connectors/fhir-r4/fake/data-set.ts';
import type { RunningServer } from '../connectors/fhir-r4/fake/http-server.ts';
import { startFake } from '../connectors/fhir-r4/fake/server.ts';
import type { FhirAppointment } from '../connectors/fhir-r4/src/fhir.ts';
import type { FhirSettings } from '../connectors/fhir-r4/src/settings.ts';
import { settingsFor } from '../connectors/fhir-r4/test/subject.ts';
import type { Configuration, ConfiguredEmr } from '../server/src/config/configuration.ts';
import { resolveConnection } from '../server/src/config/connection.ts';
import { type PoliciesInFile, resolvePolicies } from '../server/src/config/policies.ts';
import { freeSlots, type Slot } from './bookings.ts';
import { eventually } from './codes.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { careUnitPath } from './other-ehrs.ts';

/** A FHIR server with the synthetic data set, and whether `auto` finds that its transactions can be relied on. */
export interface FhirCounterpart {
  readonly name: string;
  readonly transactions: boolean;
  readonly settings?: Partial<FhirSettings>;
  start(): Promise<RunningServer>;
}

/** Tests book a week from now and later. */
const data = { days: 42 };

export const fhirCounterparts: readonly FhirCounterpart[] = [
  { name: 'a FHIR server of our own', transactions: true, start: () => startFake({ data }) },
  // Its repository in memory does not roll back, so the slots are claimed one by one.
  { name: "Medplum's FHIR router", transactions: false, start: () => startMedplum({ data }) },
];

/** One FHIR server, connected three times: with each way to confirm. */
export const direct = careUnitPath('fhir-direct', 'north');
export const byCode = careUnitPath('fhir-by-code', 'north');
export const twoStep = careUnitPath('fhir-two-step', 'north');

export interface FhirGateway extends Gateway {
  /** Every Appointment as the FHIR server has it. */
  appointmentsInEhr(): Promise<readonly FhirAppointment[]>;
}

/** A gateway with nothing but FHIR connections behind it, all to one counterpart. */
export async function startFhirGateway({ start, transactions, settings }: FhirCounterpart): Promise<FhirGateway> {
  const server = await start();
  const gateway = await startGateway({ configure: (demo) => overFhir(demo, settingsFor(server.url, settings)) });
  await eventually(() => {
    for (const ehr of gateway.deps.ehrs.values()) expect(ehr.capabilities).toMatchObject({ transactions });
  });
  return {
    ...gateway,
    async appointmentsInEhr() {
      const response = await fetch(`${server.url}/Appointment?_count=1000`);
      const bundle = (await response.json()) as { entry?: readonly { resource: FhirAppointment }[] };
      return (bundle.entry ?? []).map(({ resource }) => resource);
    },
    async close() {
      await gateway.close();
      await server.close();
    },
  };
}

function overFhir(demo: Configuration, settings: FhirSettings): Configuration {
  const emrs = [
    fhirEmr('fhir-direct', settings, {}),
    fhirEmr('fhir-by-code', settings, { booking_confirmation: 'code' }),
    fhirEmr('fhir-two-step', settings, { cancellation_confirmation: 'code' }),
  ];
  const grants = emrs.map(({ id, care_units }) => ({ emr: id, care_units: care_units.map((it) => it.id) }));
  return { ...demo, emrs, clients: demo.clients.map((client) => ({ ...client, grants })) };
}

function fhirEmr(id: string, settings: FhirSettings, confirmations: PoliciesInFile): ConfiguredEmr {
  const policies = resolvePolicies(confirmations, { limits_per_patient: { pending: 1000, codes_per_hour: 10_000 } });
  return {
    id,
    name: id,
    connector: 'fhir-r4',
    settings,
    synthetic_identifiers: true,
    connection: resolveConnection({ allow_private_addresses: true }),
    policies,
    care_units: [
      {
        id: 'north',
        name: 'Mottagning Nord',
        time_zone: timeZone,
        language: 'sv',
        policies,
        settings: { location: 'Location/north' },
      },
    ],
  };
}

/** Slots of `r-1` that follow each other without a gap, at times at which `r-2` is free as well. */
export async function freeWithBoth(gateway: Gateway, length = 1): Promise<readonly Slot[]> {
  const [ofFirst, ofSecond] = await Promise.all(
    ['r-1', 'r-2'].map((resourceId) => freeSlots(gateway, { careUnit: direct, resourceId, limit: 500 })),
  );
  const shared = new Set(ofSecond?.map(({ start }) => start));
  let run: readonly Slot[] = [];
  for (const slot of ofFirst ?? []) {
    if (!shared.has(slot.start)) continue;
    run = run.at(-1)?.end === slot.start ? [...run, slot] : [slot];
    if (run.length === length) return run;
  }
  throw new Error(`No ${length} slots that follow each other are free with both`);
}

export const withSecond = (slot: Slot): Slot => ({ ...slot, resource_id: 'emr_id:r-2' });
