import type { FastifyRequest } from 'fastify';
import type { PlannedWrite } from '../../writes/write-kind.ts';
import { baseOf } from '../face.ts';
import { invalid, unprocessable } from '../from-fhir/faults.ts';
import { fhirAppointmentSchema, parametersSchema } from '../from-fhir/schemas.ts';
import { readReference } from '../ids.ts';
import { fhirWrite } from '../interaction.ts';
import { checked } from '../native.ts';
import { asUnknownFormer } from './create.ts';
import { iheParameters, inBundle, isIhe, planIheBook } from './ihe-book.ts';
import { isParameters, parametersIn, valueIn } from './parameters.ts';
import { planFhirBooking, planFhirChange, readBefore } from './plan.ts';
import { ifUnknown } from './read.ts';
import { appointmentWrite, written } from './show.ts';

export const appointmentBook = fhirWrite({
  ...appointmentWrite,
  name: 'fhir_book_appointment',
  method: 'POST',
  path: '/$book',
  status: 201,
  representation: {
    ...written,
    isDryRun: ({ body }) => isTrial(body),
    async show(response, request) {
      const shown = await written.show(response, request);
      return isIhe(request.body) ? inBundle(shown, request) : shown;
    },
  },
  plan: planBook,
});

const bookParameters = ['appt-resource', 'schedule', 'cancelled-appt-id', 'dry-run'];

/** https://simplifier.net/guide/isik-terminplanung: a whole Appointment, alone or as a parameter. */
async function planBook(request: FastifyRequest, body: unknown): Promise<PlannedWrite> {
  const asked = ['proposed', 'pending'] as const;
  const parameters = isParameters(body) ? (checked(request, parametersSchema, body).parameter ?? []) : [];
  const known = isIhe(body) ? iheParameters : bookParameters;
  const unknown = parameters.findIndex(({ name }) => !known.includes(name));
  if (unknown !== -1) {
    throw unprocessable(`/parameter/${unknown}`, `The parameters are ${known.join(', ')}.`, 'not-supported');
  }
  if (isIhe(body)) return planIheBook(request, parameters);
  const resource = isParameters(body) ? parameters.find(({ name }) => name === 'appt-resource')?.resource : body;
  if (resource === undefined) throw invalid('/parameter', 'The parameter appt-resource is missing.', 'required');
  const appointment = checked(request, fhirAppointmentSchema, resource);
  if (!asked.some((it) => it === appointment.status)) {
    throw unprocessable('/status', 'An Appointment that $book books is proposed.');
  }
  const base = baseOf(request);
  const local = (name: string) => {
    const text = valueIn(parameters, name);
    return text === undefined ? undefined : (readReference(text, base)?.id ?? text);
  };
  const former = local('cancelled-appt-id');
  const before =
    former === undefined
      ? appointment.id && (await readBefore(request, appointment.id).catch(ifUnknown))
      : await readBefore(request, former).catch(asUnknownFormer);
  // An id that no Appointment has is the client's own, and the server assigns another one.
  if (!before) return planFhirBooking(request, appointment, local('schedule'));
  return planFhirChange(request, before, appointment, { isWhole: false, isPatch: false, asked });
}

/** The own parameter `dry-run`. */
function isTrial(body: unknown): boolean {
  return parametersIn(body).some(({ name, valueBoolean }) => name === 'dry-run' && valueBoolean === true);
}
