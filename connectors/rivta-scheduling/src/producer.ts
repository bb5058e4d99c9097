import type { EhrHttp } from '@crossward/connector-kit';
import type { OpenContext } from '@crossward/connector-kit/rest';
import type { NewElement, XmlElement } from '@crossward/connector-kit/soap';
import { outcomeOf } from './outcome.ts';
import { type Facility, type OptionalOperation, optionalOperations, type RivtaSettings } from './settings.ts';
import { call } from './soap.ts';

/** The namespace of the shared types of `crm:scheduling`. */
export const core = 'urn:riv:crm:scheduling:1';
/** The namespace of what version 1.1 has added to them. */
export const coreExtension = 'urn:riv:crm:scheduling:1.1';

export type Operation = OptionalOperation | 'GetBookingDetails' | 'GetSubjectOfCareSchedule';

/** One connection to `crm:scheduling`. */
export interface Producer {
  readonly http: EhrHttp;
  has(operation: OptionalOperation): boolean;
  /**
   * Returns the response element.
   *
   * @param subject whom it is about. The patient is the actor if the settings say so
   * @throws ConnectorError as `call` of soap.ts does
   */
  ask(operation: Operation, facility: Facility, subject: string, content: readonly NewElement[]): Promise<XmlElement>;
}

/** The namespace of the messages of an operation. */
export function messageNamespace(operation: string): string {
  return `urn:riv:crm:scheduling:${operation}Responder:1`;
}

const writes: readonly Operation[] = ['MakeBooking', 'UpdateBooking', 'CancelBooking'];

export function createProducer({ http, settings }: OpenContext<RivtaSettings>): Producer {
  const offered: readonly OptionalOperation[] = settings.operations ?? optionalOperations;
  const { actor } = settings;
  return {
    http,
    has: (operation) => offered.includes(operation),
    ask: (operation, { logicalAddress }, subject, content) =>
      call(http, {
        url: settings.url.replaceAll('{operation}', operation),
        namespace: messageNamespace(operation),
        operation,
        logicalAddress,
        actor:
          actor.type === 'agent'
            ? { type: 'subject_of_care_agent', id: actor.hsa_id }
            : { type: 'subject_of_care', id: subject },
        content,
        reads: !writes.includes(operation),
        refused: (answer) => !outcomeOf(answer).isDone,
      }),
  };
}
