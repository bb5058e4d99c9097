import type { FastifyRequest } from 'fastify';
import type { Shown } from '../../api/endpoint.ts';
import type { Problem } from '../../problems/problem.ts';
import { faceRepresentation, outcomeOf } from '../face.ts';
import { unprocessable } from '../from-fhir/faults.ts';
import { fhirWrite } from '../interaction.ts';
import { allFine } from '../operation-outcome.ts';
import { planFhirCreate } from './create.ts';
import { isParameters, parametersIn } from './parameters.ts';
import { appointmentWrite, written } from './show.ts';
import { planFhirUpdate } from './update.ts';

const validation = {
  ...appointmentWrite,
  method: 'POST',
  status: 200,
  representation: {
    ...written,
    isDryRun: () => true,
    show: async (_response: object, { lost }: FastifyRequest) => ({
      status: 200,
      body: allFine('The request would succeed.', lost),
    }),
    showProblem: showTrialProblem,
  },
} as const;

/** Of a new Appointment, and of a change of one. */
export const appointmentValidations = [
  fhirWrite({
    ...validation,
    name: 'fhir_validate_appointment',
    path: '/$validate',
    plan: async (request, body) => planFhirCreate(request, inTrial(body, 'create')),
  }),
  fhirWrite({
    ...validation,
    name: 'fhir_validate_appointment_update',
    path: '/:id/$validate',
    plan: async (request, body, id) => planFhirUpdate(request, inTrial(body, 'update'), id),
  }),
];

/**
 * The resource to validate: https://hl7.org/fhir/R4/resource-operation-validate.html
 *
 * @throws Problem `request_invalid` (422) for another mode
 */
function inTrial(body: unknown, mode: 'create' | 'update'): unknown {
  if (!isParameters(body)) return body;
  const parameters = parametersIn(body);
  const sent = parameters.find(({ name }) => name === 'mode')?.valueCode ?? mode;
  if (sent !== mode) throw unprocessable('/parameter', `The mode must be ${mode} here.`, 'not-supported');
  return parameters.find(({ name }) => name === 'resource')?.resource;
}

/** What could be checked is 200: https://hl7.org/fhir/R4/resource-operation-validate.html */
function showTrialProblem(problem: Problem, request: FastifyRequest): Shown {
  const isChecked = [400, 405, 409, 422].includes(problem.status) && request.body !== undefined;
  const shown = faceRepresentation().showProblem(problem, request);
  return isChecked ? { ...shown, status: 200, body: outcomeOf(problem, request) } : shown;
}
