import type { Resource } from '@medplum/fhirtypes';
import { startMedplum } from '../../connectors/fhir-r4/counterparts/medplum.ts';
import { QuickRepository } from '../../connectors/fhir-r4/counterparts/medplum-repository.ts';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import type { FhirCounterpart } from './fhir.ts';

const filled = new WeakMap<readonly FhirResource[], Promise<QuickRepository>>();

/** Medplum's router. Its in-memory repository does not roll back, so slots are claimed one at a time. */
export const startCounterpart: FhirCounterpart = async (resources) => {
  const original = filled.get(resources) ?? repositoryWith(resources);
  filled.set(resources, original);
  const repository = (await original).copy();
  const server = await startMedplum({ repository });
  return {
    ...server,
    read: async <R extends FhirResource>(reference: string) =>
      (await repository.readReference({ reference })) as FhirResource as R,
    all: async <R extends FhirResource>(type: string) =>
      repository.all(type) as readonly FhirResource[] as readonly R[],
    save: (resource) => repository.createResource(resource as Resource, undefined, true),
  };
};

async function repositoryWith(resources: readonly FhirResource[]): Promise<QuickRepository> {
  const repository = new QuickRepository();
  for (const resource of resources) await repository.createResource(resource as Resource);
  return repository;
}
