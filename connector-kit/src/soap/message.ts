import type { EhrRequest } from '../http.ts';
import { childOf, type NewElement, readXml, textOf, writeXml, type XmlElement } from './xml.ts';

const soap = 'http://schemas.xmlsoap.org/soap/envelope/';

/** A request of SOAP 1.1. @param action of the contract, without quotes */
export function soapRequest(url: string, action: string, header: readonly NewElement[], body: NewElement) {
  const part = (name: string, content: readonly NewElement[]): NewElement => ({ namespace: soap, name, content });
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'text/xml; charset=UTF-8', accept: 'text/xml', soapaction: `"${action}"` },
    body: writeXml(part('Envelope', [part('Header', header), part('Body', [body])])),
  } satisfies Partial<EhrRequest>;
}

/** The body of a message. `undefined`: the document is something else. @throws ConnectorError `rejected` as `readXml` does */
export function readBody(text: string): XmlElement | undefined {
  const envelope = readXml(text);
  const isEnvelope = envelope.namespace === soap && envelope.name === 'Envelope';
  return isEnvelope ? childOf(envelope, soap, 'Body') : undefined;
}

/** Why a message was refused. The text is the server's own: it can contain anything. */
export interface SoapFault {
  /** Without its prefix, such as `Server`. */
  readonly code: string;
  readonly text: string;
}

export function faultIn(body: XmlElement): SoapFault | undefined {
  const fault = childOf(body, soap, 'Fault');
  if (!fault) return undefined;
  const code = textOf(fault, '', 'faultcode') ?? '';
  return { code: code.slice(code.indexOf(':') + 1), text: textOf(fault, '', 'faultstring') ?? '' };
}
