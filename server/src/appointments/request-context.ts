import type { Access } from '../api/route.ts';
import type { OperationServices } from '../operations/services.ts';

/** Where an operation on appointments happens: who calls, in which care unit, and what it stands on. */
export interface RequestContext extends Access {
  readonly services: OperationServices;
}
