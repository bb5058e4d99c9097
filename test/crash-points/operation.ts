import type { ChildRequest } from '../processes/child-gateway.ts';
import type { AppointmentResponse, World } from './world.ts';

/** One request, with its preparation and the expected state after it. */
export interface Case {
  readonly request: ChildRequest;
  readonly status: number;
  /** Checks the state after the response; `isAlone` if nothing else happened since `prepare`. */
  expectDone(response: AppointmentResponse, isAlone: boolean): Promise<void>;
  /** Checks the state if the client does not retry. */
  expectDoneWithoutRetry(): Promise<void>;
  expectNothingDone(): Promise<void>;
}

export interface Operation {
  readonly name: string;
  /** The statement after which no client retry is needed: it stores the intent, or it is the last one. */
  readonly completesAfter: 'intent' | 'end';
  /** Only every n-th database state is tested, unless `CRASH_POINTS` is `all`. */
  readonly every: number;
  prepare(world: World): Promise<Case>;
}
