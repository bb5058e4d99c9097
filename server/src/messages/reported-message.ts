import type { Channel } from '../db/tables/messages.ts';
import type { MessageEventType, NewEvent } from '../events/new-event.ts';

/** What a message is reported by, in the log and in events. */
interface ReportedMessage {
  readonly id: string;
  readonly confirmation_id: string;
  readonly emr: string;
  readonly care_unit_id: string;
  readonly channel: Channel;
  readonly first_appointment_id: string;
}

/** The fields of a line in the log. */
export function aboutMessage({ id, channel, emr, care_unit_id }: ReportedMessage) {
  return { message_id: id, channel, emr, care_unit_id };
}

/** @param reason why the last attempt failed. `null`: no attempt has failed */
export function messageEvent(type: MessageEventType, message: ReportedMessage, reason: string | null): NewEvent {
  const { id, confirmation_id, emr, care_unit_id, channel, first_appointment_id: appointment_id } = message;
  const data = { message_id: id, confirmation_id, appointment_id, channel, reason };
  return { type, emr, careUnitId: care_unit_id, subject: appointment_id, data };
}
