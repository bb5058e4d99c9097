import { startFake } from '../../connectors/fhir-r4/fake/server.ts';
import type { FhirResource } from '../../connectors/fhir-r4/src/fhir.ts';
import type { FhirCounterpart } from './fhir.ts';

/** The project's own FHIR server, which supports transactions. */
export const startCounterpart: FhirCounterpart = async (resources) => {
  const { store, ...server } = await startFake({ data: resources });
  return {
    ...server,
    read: async <R extends FhirResource>(reference: string) => store.get(reference) as FhirResource as R,
    all: async <R extends FhirResource>(type: string) => store.all(type) as readonly FhirResource[] as readonly R[],
    save: async (resource) => store.save(resource),
  };
};
