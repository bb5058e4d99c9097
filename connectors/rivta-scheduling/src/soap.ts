import { ConnectorError, type EhrHttp, type EhrResponse } from '@crossward/connector-kit';
import {
  childOf,
  faultIn,
  leaves,
  type NewElement,
  readBody,
  type SoapFault,
  soapRequest,
  type XmlElement,
} from '@crossward/connector-kit/soap';
import { platformErrorIn } from './platform-errors.ts';

const registry = 'urn:riv:itintegration:registry:1';
const headers = 'urn:riv:interoperability:headers:1';

/** A request of RIVTABP21: SOAP 1.1, document/literal. */
export interface SoapRequest {
  readonly url: string;
  /** The namespace of the message, such as `urn:riv:crm:scheduling:MakeBookingResponder:1`. */
  readonly namespace: string;
  /** The operation, such as `MakeBooking`. */
  readonly operation: string;
  readonly logicalAddress: string;
  /** Who acts: the patient, by the number, or a member of staff, by the HSA id. Absent: the contract has no such header. */
  readonly actor?: { readonly type: 'subject_of_care' | 'subject_of_care_agent'; readonly id: string };
  readonly content: readonly NewElement[];
  /** Whether the request only reads. */
  readonly reads: boolean;
  /** For a write: whether this response element says that it was not done. */
  readonly refused?: (answer: XmlElement) => boolean;
}

/** More than one attempt for a read that fails because the platform or the producer is out of order. */
const attempts = 2;

/**
 * Sends a message and returns the response element.
 *
 * @throws ConnectorError
 *   - `rejected`: a fault that a retry does not change, or a response that is no answer to a read
 *   - `unavailable`: a read failed because the platform or the producer is out of order
 *   - `outcome_unknown`: a write failed, and the producer may have done it
 */
export async function call(http: EhrHttp, request: SoapRequest): Promise<XmlElement> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptCall(http, request);
    } catch (error) {
      const isOutage = error instanceof Outage && request.reads;
      if (!isOutage || attempt === attempts) throw error;
    }
  }
}

/** The platform says that it, or the producer behind it, is out of order. */
class Outage extends ConnectorError {}

async function attemptCall(http: EhrHttp, request: SoapRequest): Promise<XmlElement> {
  const { url, namespace, operation: name, logicalAddress, actor, content, reads } = request;
  const leavesOfActor = actor && leaves(headers, { actorId: actor.id, actorType: actor.type });
  const header = [
    ...leaves(registry, { LogicalAddress: logicalAddress }),
    ...(leavesOfActor ? [{ namespace: headers, name: 'Actor', content: leavesOfActor }] : []),
  ];
  const response = await http.send({
    ...soapRequest(url, `${namespace}:${name}`, header, { namespace, name, content }),
    repeatable: reads,
    refused: (answered) => isRefused(answered, request),
  });
  return answerIn(response, request);
}

/** @throws ConnectorError for a fault, and for what is no answer */
function answerIn(response: EhrResponse, request: SoapRequest): XmlElement {
  const { namespace, operation } = request;
  const body = bodyOf(response, request);
  const fault = faultIn(body);
  if (fault) throw errorOf(fault, request, response.status);
  const answer = childOf(body, namespace, `${operation}Response`);
  if (response.status !== 200 || !answer) throw unreadable(request, response.status);
  return answer;
}

/** Whether the response to a write says that it was not done. */
function isRefused(response: EhrResponse, request: SoapRequest): boolean {
  try {
    return request.refused?.(answerIn(response, request)) ?? false;
  } catch (error) {
    return error instanceof ConnectorError && error.kind === 'rejected';
  }
}

function bodyOf({ status, text }: EhrResponse, request: SoapRequest): XmlElement {
  let body: XmlElement | undefined;
  try {
    body = readBody(text);
  } catch (error) {
    if (status === 200 && request.reads) throw error;
  }
  if (!body) throw unreadable(request, status);
  return body;
}

/**
 * A response that is neither the answer nor a fault, such as a page of a proxy. After a status of 400 to 499, nothing was
 * done.
 */
function unreadable({ operation, reads }: SoapRequest, status: number): ConnectorError {
  const wasRefused = status >= 400 && status < 500;
  const words = `The response to ${operation} is no SOAP answer (status ${status})`;
  const kind = reads || wasRefused ? 'rejected' : 'outcome_unknown';
  return new ConnectorError(kind, words, { refusal: { status }, fault: true });
}

/**
 * A fault is technical: its text is not for the person. A fault of the client says that the message must not be sent again
 * as it is (SOAP 1.1, section 4.4.1), so it was not carried out.
 */
function errorOf(fault: SoapFault, { operation, reads }: SoapRequest, status: number): ConnectorError {
  const platform = platformErrorIn(fault.text);
  const [ofSoap] = /^(?:Client|Server|VersionMismatch|MustUnderstand)\b/.exec(fault.code) ?? [];
  const refusal = { status, code: platform?.code ?? ofSoap };
  if (platform) {
    const words = `${operation}: ${platform.code}, ${platform.means}`;
    if (platform.kind === 'outage') return new Outage(reads ? 'unavailable' : 'outcome_unknown', words, { refusal });
    return new ConnectorError('rejected', words, { refusal, fault: platform.concernsAll ?? false });
  }
  const words = `The producer responded to ${operation} with a fault`;
  // Every fault of SOAP has status 500.
  const isClients = ofSoap === 'Client';
  const kind = reads || isClients ? 'rejected' : 'outcome_unknown';
  return new ConnectorError(kind, words, { refusal, fault: !isClients });
}
