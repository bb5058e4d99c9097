import type {
  ConfiguredCareUnit,
  Connector,
  DirectChanges,
  EhrHttp,
  LeftOutRecord,
  ProbeReport,
} from '@crossward/connector-kit';
import {
  type ConnectorInProcess,
  connectorInProcess,
  type Facts,
  plainHttp,
  type Subject,
  type TimedChanges,
  timedChanges,
} from '@crossward/connector-kit/conformance';
import { careUnits, healthcareServices } from '../fake/data-set.ts';
import type { Store } from '../fake/store.ts';
import { fhirR4Connector } from '../src/connector.ts';
import type { FhirSettings } from '../src/settings.ts';
import { addOddPeople, ambiguousNumber, inactivePatient } from './odd-people.ts';
import { oddRecordsIn } from './odd-records.ts';

export const [north, south] = careUnits;

export function settingsFor(baseUrl: string, settings: Partial<FhirSettings> = {}): FhirSettings {
  return {
    base_url: baseUrl,
    healthcare_services: healthcareServices,
    patient_identifier_types: ['se_personal_number'],
    resource_identifier_types: ['hsa_id', 'se_personal_number'],
    ...settings,
  };
}

export function openConnector(
  settings: FhirSettings,
  http = plainHttp(),
  units: readonly ConfiguredCareUnit[] = careUnits,
  now = () => new Date(),
  leftOut: (record: LeftOutRecord) => void = () => undefined,
): Promise<Connector> {
  return fhirR4Connector.open({
    emr: 'fhir',
    settings,
    careUnits: units,
    http,
    now,
    leftOut,
  });
}

/** As `openConnector`, with the records that the connector leaves out. */
export async function openCounting(
  settings: FhirSettings,
  units: readonly ConfiguredCareUnit[] = careUnits,
): Promise<{ readonly connector: Connector; readonly leftOut: LeftOutRecord[] }> {
  const leftOut: LeftOutRecord[] = [];
  const connector = await fhirR4Connector.open({
    emr: 'fhir',
    settings,
    careUnits: units,
    http: plainHttp(),
    now: () => new Date(),
    leftOut: (record) => void leftOut.push(record),
  });
  return { connector, leftOut };
}

export async function probeServer(
  settings: FhirSettings,
  units: readonly ConfiguredCareUnit[] = careUnits,
): Promise<ProbeReport> {
  const context = { emr: 'fhir', settings, careUnits: units, http: plainHttp(), now: () => new Date() };
  const report = await fhirR4Connector.probe?.(context);
  if (!report) throw new Error('The connector has no probe');
  return report;
}

interface SubjectOptions extends Pick<Facts, 'oneSlotOnly' | 'otherPatientId' | 'window'> {
  readonly store?: Store | undefined;
  readonly units?: readonly ConfiguredCareUnit[] | undefined;
  /** Without a second connection, whose process takes half a second to start. */
  readonly isAlone?: boolean;
  /** Each time zone has a process of its own, which takes half a second to start. Otherwise that of the test's process changes. */
  readonly zonesInProcesses?: boolean;
}

function withoutZones(second: ConnectorInProcess | undefined): Connector | undefined {
  if (!second) return undefined;
  const { inTimeZone: _, ...connector } = second;
  return connector;
}

/** A subject of the conformance kit: connectors to a server that has the data set. */
export async function fhirSubject(
  name: string,
  settings: FhirSettings,
  close: () => Promise<void>,
  {
    oneSlotOnly,
    store,
    units = careUnits,
    otherPatientId = 'p-3',
    window,
    isAlone = false,
    zonesInProcesses = false,
  }: SubjectOptions = {},
  now = () => new Date(),
): Promise<Subject> {
  let http = plainHttp();
  const leftOut: LeftOutRecord[] = [];
  const open = () => openConnector(settings, http, units, now, (record) => void leftOut.push(record));
  let connector = await open();
  if (store) addOddPeople(store);
  const second = isAlone
    ? undefined
    : await connectorInProcess(new URL('./second.ts', import.meta.url), { settings, units });
  return {
    name,
    get connector() {
      return connector;
    },
    careUnit: north,
    otherCareUnit: south,
    facts: {
      patient: [
        { type: 'emr_id', value: 'p-1' },
        { type: 'se_personal_number', value: '191212121212' },
      ],
      numbersAsWritten: [{ type: 'se_personal_number', value: '197010632391' }],
      phonesAsWritten: { 'p-6': '+46701740605' },
      otherPatientId,
      unknownPatients: [
        { type: 'emr_id', value: 'p-21' },
        { type: 'se_personal_number', value: '197010632392' },
      ],
      ...(store
        ? {
            ambiguousPatients: [{ type: 'se_personal_number', value: ambiguousNumber }],
            inactivePatients: [{ type: 'emr_id', value: inactivePatient }],
          }
        : {}),
      newPatients: [3, 4, 5, 6].map((digit) => ({ type: 'se_personal_number', value: `19701063239${digit}` })),
      resource: [
        { type: 'emr_id', value: 'r-1' },
        { type: 'hsa_id', value: 'SE0000000000-1001' },
        { type: 'se_personal_number', value: '196408233234' },
      ],
      healthcareServiceId: 'consultation',
      foreignResourceId: 'r-3',
      oneSlotOnly,
      window,
    },
    now,
    second: zonesInProcesses ? second : withoutZones(second),
    async restart() {
      http.cut();
      http = plainHttp();
      connector = await open();
    },
    directChanges: await directChangesBy(settings, units),
    ...(store ? { oddRecords: { ...oddRecordsIn(store), leftOut }, timedChanges: timedChangesIn(store) } : {}),
    async close() {
      await second?.close();
      await close();
    },
  };
}

function timedChangesIn(store: Store): TimedChanges {
  return timedChanges(({ id }, comment, at) => {
    const appointment = store.get(`Appointment/${id}`);
    store.save({ ...appointment, comment }, at);
  });
}

/** Changes by the EHR's own staff, whom the fake server lets change more than the connector. */
async function directChangesBy(settings: FhirSettings, units: readonly ConfiguredCareUnit[]): Promise<DirectChanges> {
  const http = plainHttp();
  const asStaff: EhrHttp = {
    ...http,
    send: (request) => http.send({ ...request, headers: { ...request.headers, 'x-staff': 'yes' } }),
  };
  const changes = await fhirR4Connector.directChanges?.({
    emr: 'fhir',
    settings,
    careUnits: units,
    http: asStaff,
    now: () => new Date(),
  });
  if (!changes) throw new Error('The connector has no direct changes');
  return changes;
}
