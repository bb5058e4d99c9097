import type { Appointment, ConfiguredCareUnit, Connector, ProbeReport, TimeSlot } from '@crossward/connector-kit';
import { type Facts, plainHttp, type Subject } from '@crossward/connector-kit/conformance';
import { careUnits, healthcareServices } from '../fake/data-set.ts';
import { fhirR4Connector } from '../src/connector.ts';
import type { FhirAppointment, FhirResource, FhirSlot } from '../src/fhir.ts';
import { slotsOf } from '../src/mappers/appointment.ts';
import { freedSlot } from '../src/mappers/slot.ts';
import type { FhirSettings } from '../src/settings.ts';

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
): Promise<Connector> {
  return fhirR4Connector.open({
    emr: 'fhir',
    settings,
    careUnits: units,
    http,
  });
}

export async function probeServer(settings: FhirSettings): Promise<ProbeReport> {
  const context = { emr: 'fhir', settings, careUnits, http: plainHttp() };
  const report = await fhirR4Connector.probe?.(context);
  if (!report) throw new Error('The connector has no probe');
  return report;
}

/** A subject of the conformance kit: connectors to a server that has the data set. */
export async function fhirSubject(
  name: string,
  settings: FhirSettings,
  close: () => Promise<void>,
  { oneSlotOnly }: Pick<Facts, 'oneSlotOnly'> = {},
): Promise<Subject> {
  let http = plainHttp();
  let connector = await openConnector(settings, http);
  const server = directAccess(settings.base_url);
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
      otherPatientId: 'p-3',
      unknownPatients: [
        { type: 'emr_id', value: 'p-21' },
        { type: 'se_personal_number', value: '197010632392' },
      ],
      resource: [
        { type: 'emr_id', value: 'r-1' },
        { type: 'hsa_id', value: 'SE0000000000-1001' },
        { type: 'se_personal_number', value: '196408233234' },
      ],
      healthcareServiceId: 'consultation',
      foreignResourceId: 'r-3',
      oneSlotOnly,
    },
    second: await openConnector(settings),
    async restart() {
      http.cut();
      http = plainHttp();
      connector = await openConnector(settings, http);
    },
    directChanges: {
      async cancel({ id }) {
        let slots: readonly string[] = [];
        await server.change<FhirAppointment>(`Appointment/${id}`, (it) => {
          slots = slotsOf(it);
          return { ...it, status: 'cancelled' };
        });
        for (const slot of slots) await server.change<FhirSlot>(slot, freedSlot, { retry: true });
      },
      comment: ({ id }: Appointment, comment) =>
        server.change<FhirAppointment>(`Appointment/${id}`, (it) => ({ ...it, comment })),
      async take({ resourceId, start }: TimeSlot) {
        const slot = `Slot/slot-${resourceId}-${start.getTime() / 60_000}`;
        await server.change<FhirSlot>(slot, (it) => ({ ...it, status: 'busy' }));
        return () => server.change<FhirSlot>(slot, (it) => ({ ...it, status: 'free' }));
      },
    },
    close,
  };
}

/** Requests to the server by the EHR's own staff. */
function directAccess(baseUrl: string) {
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${baseUrl}/${path}`, {
      headers: { 'content-type': 'application/fhir+json' },
      ...init,
    });
    return (await response.json()) as unknown;
  };
  return {
    read: <R extends FhirResource>(reference: string) => send(reference) as Promise<R>,
    async search<R extends FhirResource>(path: string) {
      const bundle = (await send(path)) as { entry?: { resource: R }[] };
      return (bundle.entry ?? []).map(({ resource }) => resource);
    },
    /** Updates a resource under the version that was read. If it was changed meanwhile: an error, or a retry with `retry`. */
    async change<R extends FhirResource>(
      reference: string,
      changed: (resource: R) => R,
      { retry = false }: { retry?: boolean } = {},
    ): Promise<void> {
      for (;;) {
        const resource = (await send(reference)) as R;
        const response = await fetch(`${baseUrl}/${reference}`, {
          method: 'PUT',
          headers: {
            'content-type': 'application/fhir+json',
            'x-staff': 'yes',
            'if-match': `W/"${resource.meta?.versionId}"`,
          },
          body: JSON.stringify(changed(resource)),
        });
        await response.body?.cancel();
        if (response.ok) return;
        if (!retry) throw new Error(`The EHR rejected a change by its staff with ${response.status}`);
      }
    },
    create: (resource: FhirResource) => send(resource.resourceType, { method: 'POST', body: JSON.stringify(resource) }),
  };
}
