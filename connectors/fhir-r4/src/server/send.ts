import {
  ConnectorError,
  type EhrHttp,
  type EhrRequest,
  type EhrResponse,
  type EhrStream,
  type StreamedBody,
} from '@crossward/connector-kit';
import { type Bundle, type FhirResource, isBundle } from '../fhir.ts';
import type { ObservedClock } from './clock.ts';
import { isResource, mediaType, parse } from './messages.ts';
import { hasFailed, isOutcome, rejection, searchFailure } from './outcome.ts';
import type { Receiver } from './received/receive.ts';
import type { Authorizer } from './sign-in/authorizer.ts';

export type Call = Pick<EhrRequest, 'method' | 'url' | 'headers' | 'repeatable' | 'writes' | 'refused'> & {
  readonly body?: string | StreamedBody;
};

export const emptyBundle: Bundle = { resourceType: 'Bundle', type: 'searchset' };

export type Send = (call: Call) => Promise<EhrResponse>;

/** Sends a request and opens its response, whose body is read while it arrives. */
export type OpenStream = (call: Call) => Promise<EhrStream>;

type Headers = Readonly<Record<string, string>>;

/** Sends a request that changes nothing. `what`: its name in errors. */
export type Query = (what: string, call: Omit<Call, 'repeatable'>) => Promise<FhirResource>;

/** Signs requests in, and learns the EHR's clock from their responses. `constant`: headers of every request */
export function sender(http: EhrHttp, authorizer: Authorizer, constant: Headers, clock: ObservedClock): Send {
  return (call) =>
    signedIn(authorizer, async (authorization) => {
      const headers = { ...constant, accept: mediaType, ...call.headers, ...authorization };
      const sentAt = clock.gatewayNow();
      const response = await http.send({ ...call, headers });
      clock.observe(response, sentAt, clock.gatewayNow());
      return response;
    });
}

/** Opens a stream, like `sender`. */
export function streamer(http: EhrHttp, authorizer: Authorizer, constant: Headers): OpenStream {
  return (call) =>
    signedIn(
      authorizer,
      (authorization) => http.stream({ ...call, headers: { ...constant, ...call.headers, ...authorization } }),
      cancel,
    );
}

/** Ends a stream without reading it. */
export async function cancel({ chunks }: EhrStream): Promise<void> {
  await chunks[Symbol.asyncIterator]().return?.();
}

async function signedIn<Response extends { readonly status: number }>(
  authorizer: Authorizer,
  request: (authorization: Headers) => Promise<Response>,
  discard?: (response: Response) => Promise<void>,
): Promise<Response> {
  const authorization = await authorizer.headers();
  const response = await request(authorization);
  if (response.status !== 401 || !authorizer.renew) return response;
  await discard?.(response);
  // A token may be revoked early. The server did nothing, so it is safe to send the request again.
  await authorizer.renew(authorization);
  return request(await authorizer.headers());
}

/** @throws ConnectorError for anything but a resource, or 204, which stands for an empty Bundle */
export function querier(send: Send, receiver: Receiver): Query {
  return async (what, call) => {
    const response = await send({ ...call, repeatable: true });
    if (response.status === 204) return emptyBundle;
    const parsed = parse(response.text);
    const body = response.status >= 300 ? receiver.attempt(parsed) : receiver.receive(parsed);
    if (response.status >= 300 || (isOutcome(body) && hasFailed(body))) throw rejection(response, body, what);
    if (!isResource(body))
      throw new ConnectorError('rejected', `The EHR responded with ${response.status} without a FHIR resource`, {
        fault: true,
      });
    const failure = isBundle(body) && searchFailure(body);
    if (failure) throw rejection(response, failure, what);
    return body;
  };
}
