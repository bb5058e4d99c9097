import type { Code, HealthcareService } from '@crossward/connector-kit';
import type { CodeableConcept, Coding, FhirHealthcareService } from '../fhir.ts';
import type { FhirSettings } from '../settings.ts';

/** A service that can be booked, and its codes in the EHR. */
export interface BookableService extends HealthcareService {
  readonly codings: readonly Coding[];
  /** `HealthcareService/1` */
  readonly reference: string | undefined;
}

type ConfiguredService = NonNullable<FhirSettings['healthcare_services']>[number];

export function configuredService(service: ConfiguredService): BookableService {
  return {
    id: service.id,
    name: service.name,
    durationMinutes: service.duration_minutes ?? null,
    codings: service.service_types ?? [],
    reference: service.reference,
  };
}

export function discoveredService(resource: FhirHealthcareService): BookableService {
  const id = resource.id ?? '';
  const concepts = resource.type ?? [];
  return {
    id,
    name: resource.name ?? concepts[0]?.text ?? concepts[0]?.coding?.[0]?.display ?? id,
    durationMinutes: null,
    codings: concepts.flatMap(({ coding }) => coding ?? []),
    reference: `HealthcareService/${id}`,
  };
}

/** A coding without a code says nothing. */
export function codeOf({ system, code, display }: Coding): Code[] {
  return code ? [{ system: system || null, code, display: display ?? null }] : [];
}

/** The `serviceType` of an Appointment. A service without a code is known by its reference alone. */
export function serviceTypeOf({ name, codings }: BookableService): CodeableConcept[] {
  const [first] = codings;
  return [{ ...(first ? { coding: [first] } : {}), text: name }];
}

export function hasCoding({ codings }: BookableService, concepts: readonly CodeableConcept[] = []): boolean {
  return concepts.some(({ coding }) =>
    coding?.some((it) => codings.some((own) => own.code === it.code && (own.system ?? '') === (it.system ?? ''))),
  );
}

/** The value of the search parameter `service-type`. */
export function serviceTypeToken(services: readonly BookableService[]): string {
  return services
    .flatMap(({ codings }) => codings)
    .map(({ system, code }) => (system === undefined ? code : `${system}|${code}`))
    .join(',');
}
