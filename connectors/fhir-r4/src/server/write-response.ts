import type { EhrResponse } from '@crossward/connector-kit';
import { type FhirResource, storedReference } from '../fhir.ts';
import { isResource, parse } from './body.ts';
import type { WriteResponse } from './client.ts';
import { versionIn } from './etag.ts';
import { hasFailed, isOutcome, rejection } from './outcome.ts';
import type { Receiver } from './received/receive.ts';
import { assertIsStored } from './right-answer.ts';

/**
 * @param written the resource as it was sent, or its type and id. `undefined`: the response is about something else.
 * @throws ConnectorError `outcome_unknown` if the response is about another resource
 */
export function writeResponse(response: EhrResponse, receiver: Receiver, written?: FhirResource): WriteResponse {
  const { status, headers } = response;
  const body = receiver.attempt(parse(response.text));
  // Medplum responds with 304 to a PUT that changes nothing.
  const ok = status === 304 || (status < 300 && !(isOutcome(body) && hasFailed(body)));
  const resource = isResource(body) && !isOutcome(body) ? body : undefined;
  if (written) assertIsStored(written, { ok, resource, location: storedReference(headers.location) });
  const location = storedReference(headers.location ?? headers['content-location']);
  return {
    status,
    ok,
    body,
    resource,
    reference: resource?.id ? `${resource.resourceType}/${resource.id}` : location,
    version: resource?.meta?.versionId ?? versionIn(headers.etag),
    expires: dateOf(headers.expires),
    rejection: ok ? undefined : rejection(response, body),
  };
}

/** The date in a header. `undefined` for "0" and the like. */
function dateOf(value: string | undefined): Date | undefined {
  const moment = new Date(value !== undefined && value.length > 10 ? value : '');
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
