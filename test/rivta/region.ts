import { north, patients, timeZone } from '../../connectors/rivta-scheduling/fake/data-set.ts';
import { type FakeProducer, startFake } from '../../connectors/rivta-scheduling/fake/server.ts';
import { settingsFor } from '../../connectors/rivta-scheduling/test/subject.ts';
import { details } from '../../connectors/rivta-scheduling/test/with-fake.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePatientPage } from '../../server/src/config/schema/patient-page.ts';
import { resolvePolicies } from '../../server/src/config/schema/policies.ts';
import { type FaultProxy, startFaultProxy } from '../ehrs/fault-proxy.ts';
import { type Gateway, type GatewayResponse, startGateway } from '../gateway/gateway.ts';
import { withQuickRecovery } from '../gateway/recovery.ts';
import { newKey } from '../requests/idempotency-keys.ts';

export const unit = '/api/emrs/rivta/care-units/norr';
const performer = 'hsa_id:SE2321000000-P001';
export const patient = `se_personal_number:${patients.first}`;

export interface Shown {
  readonly id: string;
  readonly status: string;
  readonly start: string;
  readonly patient_id: string;
  readonly notice: string | null;
  readonly reason?: string;
  readonly detail?: string;
}

export interface Creation {
  readonly patient_id: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
  readonly start_time: string;
  readonly end_time: string;
  readonly patient_details: object;
}

/** A gateway before a producer, with a proxy between them. */
export interface Region {
  readonly fake: FakeProducer;
  readonly proxy: FaultProxy;
  readonly gateway: Gateway;
  /** The body of a booking of a free time that this has not returned before. */
  bodyOf(): Promise<Creation>;
  /** Default: a time that no other write has. */
  book(body?: object, key?: string): Promise<GatewayResponse<Shown>>;
  change(id: string, body: object, key?: string): Promise<GatewayResponse<Shown>>;
  /** How many requests of an operation have reached the producer. */
  sent(operation: string): number;
  /** Undoes what tests have done to the producer. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** @param confirmation whether a booking needs a code */
export async function startRegion(confirmation: 'none' | 'code' = 'none'): Promise<Region> {
  const fake = await startFake({ days: 5 });
  const proxy = await startFaultProxy(new URL(fake.url).origin);
  const notes = { url: `${proxy.url}/notes`, logical_address: 'SE2321000000-AGGR' };
  const settings = settingsFor(fake, { url: `${proxy.url}/{operation}`, notes });
  const gateway = await startRegionGateway(settings, confirmation);
  const used = new Set<string>();

  async function bodyOf(): Promise<Creation> {
    const query = new URLSearchParams({
      start: new Date().toISOString(),
      end: new Date(Date.now() + 6 * 86_400_000).toISOString(),
      resource_id: performer,
      healthcare_service_id: 'besok',
    });
    type Slots = { timeslots: { start: string; end: string }[] };
    const { body } = await gateway.request<Slots>('GET', `${unit}/timeslots?${query}`);
    const slot = body.timeslots.find(({ start }) => !used.has(start));
    if (!slot) throw new Error(`No free slot: ${JSON.stringify(body)}`);
    used.add(slot.start);
    return {
      patient_id: patient,
      resource_id: performer,
      healthcare_service_id: 'besok',
      start_time: slot.start.slice(0, 19),
      end_time: slot.end.slice(0, 19),
      patient_details: { given_name: details.givenName, family_name: details.familyName, phone: details.phone },
    };
  }

  return {
    fake,
    proxy,
    gateway,
    bodyOf,
    book: async (body, key = newKey()) =>
      gateway.request('POST', `${unit}/appointments`, {
        body: body ?? (await bodyOf()),
        headers: { 'idempotency-key': key },
      }),
    change: (id, body, key = newKey()) =>
      gateway.request('PATCH', `${unit}/appointments/${encodeURIComponent(id)}`, {
        body,
        headers: { 'idempotency-key': key },
      }),
    sent: (operation) => fake.log.filter((it) => it.operation === operation).length,
    async restore() {
      await proxy.comeUp();
      fake.calendar.bookings.clear();
      fake.mishaps.clear();
      fake.notes.splice(0);
      fake.behaviour.info = undefined;
      fake.behaviour.refusal = undefined;
      fake.behaviour.ofOnePatient = undefined;
      fake.before = async () => undefined;
    },
    async close() {
      await gateway.close();
      await proxy.close();
      await fake.close();
    },
  };
}

function startRegionGateway(settings: object, booking_confirmation: 'none' | 'code'): Promise<Gateway> {
  const policies = resolvePolicies({ booking_confirmation });
  const emr = {
    id: 'rivta',
    name: 'Region',
    connector: 'rivta-scheduling',
    settings: { ...settings },
    synthetic_identifiers: true,
    reserve_numbers: true,
    connection: resolveConnection({ allow_private_addresses: true, requests_per_second: 100 }),
    policies,
    care_units: [
      {
        id: 'norr',
        name: 'Norr',
        time_zone: timeZone,
        language: 'sv' as const,
        policies,
        patient_page: resolvePatientPage(),
        settings: { healthcare_facility: north.hsaId },
      },
    ],
  };
  const grants = [{ emr: 'rivta', care_units: ['norr'] }];
  return startGateway({
    logLevel: 'trace',
    configure: (demo) =>
      withQuickRecovery(
        { ...demo, emrs: [emr], clients: demo.clients.map((it) => ({ ...it, grants })) },
        { settling_seconds: 2 },
      ),
  });
}
