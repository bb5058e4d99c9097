import type {
  Connector,
  ConnectorContext,
  DirectChanges,
  EhrHttp,
  LeftOutRecord,
  TimeSlot,
} from '@crossward/connector-kit';
import { connectorInProcess, type OddRecords, plainHttp, type Subject } from '@crossward/connector-kit/conformance';
import { patients, unusedNhsNumber } from '../fake/data-set.ts';
import type { FakePractice } from '../fake/server.ts';
import { gpConnectConnector } from '../src/connector.ts';
import type { GpConnectSettings } from '../src/settings.ts';

export const timeZone = 'Europe/London';
export const careUnits = [
  {
    id: 'main',
    timeZone,
    settings: {
      location: 'Location/1',
      resources: [
        { reference: 'Practitioner/1', name: 'Dr One' },
        { reference: 'Practitioner/2', name: 'Dr Two' },
      ],
    },
  },
  {
    id: 'branch',
    timeZone,
    settings: {
      location: 'Location/2',
      resources: [
        { reference: 'Practitioner/3', name: 'Dr Three', healthcare_services: ['gp'] },
        { reference: 'Location/2', name: 'Nurse clinic', healthcare_services: ['check'] },
      ],
    },
  },
] as const;

export function settingsFor(providerUrl: string, more: Partial<GpConnectSettings> = {}): GpConnectSettings {
  return {
    provider_url: providerUrl,
    from_asid: '200000000359',
    to_asid: '918999198993',
    issuer: 'https://crossward.example/',
    organization: { ods_code: 'A11111', name: 'Test Hub', phone: '0300 303 5678' },
    device: { id: 'gateway-1', model: 'Crossward', version: '1.0' },
    practitioner: { id: 'booking-desk', family_name: 'Desk', given_name: 'Booking' },
    healthcare_services: [
      { id: 'gp', name: 'GP appointment', slot_type: 'General GP Appointment', duration_minutes: 15 },
      { id: 'check', name: 'Health check', slot_type: 'NHS Health Check', schedule_type: 'Nurse clinic' },
    ],
    ...more,
  };
}

export function contextFor(
  settings: GpConnectSettings,
  http: EhrHttp = plainHttp(),
  now = () => new Date(),
): ConnectorContext<GpConnectSettings> {
  return { emr: 'practice', settings, careUnits, http, now };
}

export function openConnector(settings: GpConnectSettings, http?: EhrHttp, now?: () => Date): Promise<Connector> {
  return gpConnectConnector.open(contextFor(settings, http, now));
}

/** A subject of the conformance kit over a practice. */
export async function subjectOver(practice: FakePractice, name = 'gp-connect'): Promise<Subject> {
  const settings = settingsFor(practice.url);
  let http = plainHttp();
  const leftOut: LeftOutRecord[] = [];
  const open = () =>
    gpConnectConnector.open({ ...contextFor(settings, http), leftOut: (record) => void leftOut.push(record) });
  let connector = await open();
  const second = await connectorInProcess(new URL('./second.ts', import.meta.url), practice.url);
  const [known, other] = patients;
  return {
    name,
    get connector() {
      return connector;
    },
    careUnit: careUnits[0],
    otherCareUnit: careUnits[1],
    facts: {
      patient: [
        { type: 'emr_id', value: known?.id ?? '' },
        { type: 'nhs_number', value: known?.nhsNumber ?? '' },
      ],
      numbersAsWritten: [{ type: 'nhs_number', value: other?.nhsNumber ?? '' }],
      phonesAsWritten: { [other?.id ?? '']: '+447700900001' },
      otherPatientId: other?.id,
      unknownPatients: [
        { type: 'emr_id', value: 'no-such-patient' },
        { type: 'emr_id', value: 'no/such patient' },
        { type: 'emr_id', value: '999999' },
        { type: 'nhs_number', value: unusedNhsNumber },
      ],
      resource: [{ type: 'emr_id', value: '1' }],
      healthcareServiceId: 'gp',
      foreignResourceId: '3',
    },
    second,
    async restart() {
      http.cut();
      http = plainHttp();
      connector = await open();
    },
    directChanges: staffOf(practice),
    oddRecords: { ...oddRecordsOf(practice), leftOut },
    clockChanges: practice.nights.map(({ name: night, start, end, at, starts }) => ({
      name: night,
      resourceId: '1',
      healthcareServiceId: 'gp',
      start,
      end,
      at,
      slotStarts: starts.map((it) => new Date(it)),
    })),
    async close() {
      await second.close();
      await practice.close();
    },
  };
}

/** The practice's own staff. */
function staffOf({ appointments, slots }: FakePractice): DirectChanges {
  const slotAt = ({ start, resourceId }: TimeSlot) => {
    const slot = slots.find((it) => it.start === start.getTime() && it.schedule.practitioner === resourceId);
    if (!slot?.isFree) throw new Error('No such free slot');
    return slot;
  };
  return {
    cancel: async ({ id }) => appointments.edit(id, { status: 'cancelled' }),
    async attend({ id }, attendance) {
      const statuses = { arrived: 'arrived', completed: 'fulfilled', no_show: 'noshow' } as const;
      appointments.edit(id, { status: statuses[attendance] });
    },
    comment: async ({ id }, comment) => appointments.edit(id, { comment }),
    move: async ({ id }, to) => appointments.move(id, slotAt(to)),
    async take(time) {
      const slot = slotAt(time);
      slot.isFree = false;
      return async () => {
        slot.isFree = true;
      };
    },
    overbook: async () => null,
  };
}

type Resource = Readonly<Record<string, unknown>>;

/** Records as the practice sends them after another program has changed them. */
function oddRecordsOf(practice: FakePractice): Omit<OddRecords, 'leftOut'> {
  async function spoil(type: string, isIt: (resource: Resource) => boolean, broken: (resource: Resource) => Resource) {
    practice.spoil = (part) => {
      const resource = part as Resource | null;
      return resource?.resourceType === type && isIt(resource) ? broken(resource) : part;
    };
    return async () => {
      practice.spoil = undefined;
    };
  }
  const elsewhere = (type: string) => (resource: Resource) =>
    JSON.parse(JSON.stringify(resource).replaceAll(`"${type}/`, `"https://other.example/fhir/${type}/`)) as Resource;
  return {
    breakAppointment: (appointment) =>
      spoil(
        'Appointment',
        ({ id }) => id === appointment.id,
        (it) => ({ ...it, start: 'soon' }),
      ),
    breakPatient: (patientId) =>
      spoil(
        'Patient',
        ({ id }) => id === patientId,
        (it) => ({ ...it, active: 'yes' }),
      ),
    breakTimeSlot: ({ start }) =>
      spoil(
        'Slot',
        (it) => Date.parse(String(it.start)) === start.getTime(),
        (it) => ({ ...it, end: 7 }),
      ),
    nameForeignPatient: (appointment) => spoil('Appointment', ({ id }) => id === appointment.id, elsewhere('Patient')),
    nameForeignResource: (appointment) =>
      spoil('Appointment', ({ id }) => id === appointment.id, elsewhere('Practitioner')),
  };
}
