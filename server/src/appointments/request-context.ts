import type { Access } from '../api/endpoint.ts';
import type { WriteServices } from '../writes/write-kind.ts';

/** The client, EHR and care unit of a request, and the services that it uses. */
export interface RequestContext extends Access {
  readonly services: WriteServices;
}
