import type { CareUnit, ConnectorContext, EhrHttp, LeftOutRecord } from '@crossward/connector-kit';
import { leaves, type NewElement, type XmlElement } from '@crossward/connector-kit/soap';
import type { RepeatedHour } from './local-time.ts';
import { outcomeOf } from './outcome.ts';
import {
  type Facility,
  facilitiesOf,
  type OptionalOperation,
  optionalOperations,
  type RivtaSettings,
} from './settings.ts';
import { type Actor, call } from './soap.ts';

/** The namespace of the shared types of `crm:scheduling`. */
export const core = 'urn:riv:crm:scheduling:1';
/** The namespace of what version 1.1 has added to them. */
export const coreExtension = 'urn:riv:crm:scheduling:1.1';

type Operation = OptionalOperation | 'GetBookingDetails' | 'GetSubjectOfCareSchedule';

/** A question to a producer, or a change. */
export interface Message {
  readonly facility: Facility;
  /** Whom it is about. The patient is the actor if the settings say so. */
  readonly subject: string;
  readonly content: readonly NewElement[];
}

type Texts = Parameters<typeof leaves>[1];

/** One connection to `crm:scheduling`. */
export interface Producer {
  readonly settings: RivtaSettings;
  readonly repeatedHour: RepeatedHour;
  /** The number for questions about no patient. */
  readonly searchSubject: string | undefined;
  readonly http: EhrHttp;
  now(): Date;
  /** Counts a record that cannot be read. */
  leftOut(record: LeftOutRecord): void;
  has(operation: OptionalOperation): boolean;
  facilityOf(careUnit: Pick<CareUnit, 'id'>): Facility;
  /** Returns the response element. @throws ConnectorError as `call` of soap.ts does */
  ask(operation: Operation, message: Message): Promise<XmlElement>;
  /**
   * As `ask`, about a unit: its HSA id comes first.
   *
   * @param added what version 1.1 has added to the message. It comes last
   */
  askUnit(
    operation: Operation,
    about: { readonly careUnit: CareUnit; readonly subject: string },
    texts: Texts,
    added?: Texts,
  ): Promise<XmlElement>;
}

/** The namespace of the messages of an operation. */
export function messageNamespace(operation: string): string {
  return `urn:riv:crm:scheduling:${operation}Responder:1`;
}

/** The namespace of what version 1.1 has added to the messages of an operation. */
function messageExtension(operation: string): string {
  return `${messageNamespace(operation)}.1`;
}

const writes: readonly Operation[] = ['MakeBooking', 'UpdateBooking', 'CancelBooking'];

/** @throws ConnectorError `rejected` if the settings of a care unit are invalid */
export function producerOf(context: ConnectorContext<RivtaSettings>): Producer {
  const { settings, http, now } = context;
  const offered: readonly OptionalOperation[] = settings.operations ?? optionalOperations;
  const producer: Producer = {
    settings,
    repeatedHour: settings.repeated_hour ?? 'refuse',
    searchSubject: settings.search_subject,
    http,
    now,
    leftOut: (record) => context.leftOut?.(record),
    has: (operation) => offered.includes(operation),
    facilityOf: facilitiesOf(context),
    ask: (operation, { facility, subject, content }) =>
      call(http, {
        url: settings.url.replaceAll('{operation}', operation),
        namespace: messageNamespace(operation),
        operation,
        logicalAddress: facility.logicalAddress,
        actor: actorOf(settings.actor, subject),
        content,
        reads: !writes.includes(operation),
        refused: (answer) => !outcomeOf(answer).isDone,
      }),
    askUnit(operation, { careUnit, subject }, texts, added = []) {
      const facility = producer.facilityOf(careUnit);
      const content = [
        ...leaves(messageNamespace(operation), [['healthcare_facility', facility.hsaId], ...texts]),
        ...leaves(messageExtension(operation), added),
      ];
      return producer.ask(operation, { facility, subject, content });
    },
  };
  return producer;
}

function actorOf(actor: RivtaSettings['actor'], subject: string): Actor {
  if (actor.type === 'agent') return { type: 'subject_of_care_agent', id: actor.hsa_id };
  return { type: 'subject_of_care', id: subject };
}
