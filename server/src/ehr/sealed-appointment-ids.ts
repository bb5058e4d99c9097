import type { Appointment, AppointmentChange, Connector } from '@crossward/connector-kit';
import type { PatientTokens } from '../secrets/patient-tokens.ts';

/** No appointment has this id. */
const nobodys = '';

/**
 * A connector whose ids of appointments contain the patient's identifier, with a token in place of each id. A text that is no
 * token is the id of no appointment: a caller who knows the form of the ids cannot make one.
 *
 * An appointment that a call names comes back with the token of the call: a stored plan can have one of an earlier secret key.
 */
export function withSealedAppointmentIds(connector: Connector, tokens: PatientTokens): Connector {
  const { findAppointments, listAppointments, listTimeSlots, changeAppointments, findOperation, settleChanges } =
    connector;

  /** Opens tokens, and seals the ids that they stood for alike. */
  function forCall() {
    const named = new Map<string, string>();
    return {
      open(token: string): string {
        const id = tokens.open(token) ?? nobodys;
        named.set(id, token);
        return id;
      },
      seal: (appointments: readonly Appointment[]) =>
        appointments.map((it) => ({ ...it, id: named.get(it.id) ?? tokens.seal(it.id) })),
    };
  }

  const opened = (changes: readonly AppointmentChange[], open: (token: string) => string) =>
    changes.map((it) => (it.kind === 'create' ? it : { ...it, appointmentId: open(it.appointmentId) }));

  return {
    ...connector,
    ...(findAppointments && {
      async findAppointments(careUnit, ids) {
        const { open, seal } = forCall();
        const known = ids.map(open).filter((it) => it !== nobodys);
        return known.length === 0 ? [] : seal(await findAppointments(careUnit, known));
      },
    }),
    ...(listAppointments && {
      async listAppointments(query) {
        const { open, seal } = forCall();
        const after = query.after && { ...query.after, id: open(query.after.id) };
        return seal(await listAppointments({ ...query, after }));
      },
    }),
    ...(listTimeSlots && {
      async listTimeSlots(query) {
        const { open } = forCall();
        const { freeing, forAppointment } = query;
        return listTimeSlots({
          ...query,
          freeing: freeing?.map(open),
          forAppointment: forAppointment === undefined ? undefined : open(forAppointment),
        });
      },
    }),
    ...(changeAppointments && {
      async changeAppointments(write) {
        const { open, seal } = forCall();
        return seal(await changeAppointments({ ...write, changes: opened(write.changes, open) }));
      },
    }),
    ...(findOperation && {
      async findOperation(careUnit, operationId, changes) {
        const { open, seal } = forCall();
        const found = await findOperation(careUnit, operationId, changes && opened(changes, open));
        return found && seal(found);
      },
    }),
    ...(settleChanges && {
      async settleChanges({ made, notSeen, ...more }) {
        const { open } = forCall();
        return settleChanges({ ...more, made: opened(made, open), notSeen: opened(notSeen, open) });
      },
    }),
  };
}
