import { resendConfirmation } from '../../appointments/routes.ts';
import { fhirWrite } from '../interaction.ts';
import { planNative } from '../native.ts';
import { awaitingId } from './confirm.ts';
import { appointmentWrite, written } from './show.ts';

export const appointmentResendCode = fhirWrite({
  ...appointmentWrite,
  name: 'fhir_resend_code',
  method: 'POST',
  path: '/:id/$resend-code',
  status: 202,
  representation: written,
  plan: async (request, _body, id) =>
    planNative(request, resendConfirmation, { params: { appointment_id: await awaitingId(request, id) } }),
});
