import { type ConnectorContext, ConnectorError, type EhrResponse } from '@crossward/connector-kit';
import { createSessions } from '@crossward/connector-kit/rest';
import {
  childOf,
  childrenOf,
  faultIn,
  type NewElement,
  readBody,
  type SoapFault,
  soapRequest,
  textOf,
  type XmlElement,
} from '@crossward/connector-kit/soap';
import type { OscarSettings } from './settings.ts';

const defaultNamespace = 'http://ws.oscarehr.org/';
const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const passwordText = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText';
/** A wrong password is not tried again for so long. */
const pauseMilliseconds = 60_000;

/** Of a service, such as `Schedule.addAppointment`. */
type Operation = `${'Demographic' | 'Login' | 'Provider' | 'Schedule' | 'SystemInfo'}.${string}`;

/** A parameter. `null`: it is not sent. */
type Argument = string | number | boolean | Date | null | Readonly<Record<string, string>>;

/** The SOAP interface of OSCAR. All functions return the `return` elements: none for `null`. */
export interface OscarClient {
  ask(operation: Operation, ...args: readonly Argument[]): Promise<readonly XmlElement[]>;
  write(operation: Operation, record: Readonly<Record<string, string>>): Promise<readonly XmlElement[]>;
}

interface Session {
  readonly id: string;
  /** As good as the password. It ends when the server restarts. */
  readonly token: string;
}

export function createClient({ http, settings, now }: ConnectorContext<OscarSettings>): OscarClient {
  const { base_url, namespace = defaultNamespace, username, password } = settings;
  const sessions = createSessions<Session, EhrResponse>({ signIn, hasEnded, pauseMilliseconds, now });

  async function signIn(): Promise<Session> {
    const response = await send('Login.login2', [username, password.reveal()], []);
    const { status, text } = response;
    if (faultOf(text)) {
      throw new ConnectorError('rejected', 'The EHR rejected the sign-in', { fault: true, refusal: { status } });
    }
    const [result] = answerIn(response, 'Login.login2');
    const [id, token] = ['securityId', 'securityTokenKey'].map((name) => result && textOf(result, '', name));
    if (id && token) return { id, token };
    throw new ConnectorError('rejected', 'The EHR gives the user no token', { fault: true });
  }

  function send(operation: Operation, args: readonly Argument[], header: readonly NewElement[], writes = false) {
    const [service, name = ''] = operation.split('.');
    const content = args.flatMap((it, index) => elementFor(`arg${index}`, it) ?? []);
    return http.send({
      ...soapRequest(`${base_url}/${service}Service`, '', header, { namespace, name, content }),
      repeatable: !writes,
      writes,
      refused: ({ text }) => isRefusal(faultOf(text)),
    });
  }

  async function call(operation: Operation, args: readonly Argument[], writes = false) {
    const response = await sessions.in((session) => send(operation, args, [securityHeader(session)], writes));
    return answerIn(response, operation);
  }

  function answerIn({ status, text }: EhrResponse, operation: Operation): readonly XmlElement[] {
    const body = readBody(text);
    const fault = body && faultIn(body);
    if (fault) throw errorOf(fault, operation, status);
    const answer = body && childOf(body, namespace, `${operation.split('.')[1]}Response`);
    if (status === 200 && answer) return childrenOf(answer, '', 'return');
    const words = `The response to ${operation} is no SOAP answer`;
    throw new ConnectorError('rejected', words, { refusal: { status }, fault: true });
  }

  return {
    ask: (operation, ...args) => call(operation, args),
    write: (operation, record) => call(operation, [record], true),
  };
}

function securityHeader({ id, token }: Session): NewElement {
  const content = [
    { namespace: wsse, name: 'Username', content: id },
    { namespace: wsse, name: 'Password', attributes: { Type: passwordText }, content: token },
  ];
  return { namespace: wsse, name: 'Security', content: [{ namespace: wsse, name: 'UsernameToken', content }] };
}

function elementFor(name: string, value: Argument): NewElement | undefined {
  if (value === null) return undefined;
  const isRecord = typeof value === 'object' && !(value instanceof Date);
  const members = isRecord ? Object.entries(value) : [];
  const content = members.map(([own, text]) => ({ namespace: '', name: own, content: text }));
  const text = value instanceof Date ? value.toISOString() : String(value);
  return { namespace: '', name, content: isRecord ? content : text };
}

function faultOf(text: string): SoapFault | undefined {
  try {
    const body = readBody(text);
    return body && faultIn(body);
  } catch {
    return undefined;
  }
}

/** The server has done nothing. It says `Server` for every failure of its own, such as a null that it did not expect. */
function isRefusal(fault: SoapFault | undefined): boolean {
  return fault !== undefined && (fault.code.startsWith('Client') || securityCodes.test(fault.code));
}

const securityCodes = /^(FailedAuthentication|FailedCheck|InvalidSecurity|InvalidSecurityToken|SecurityError)$/;

/** WSS4J hides why: https://cxf.apache.org/docs/ws-security.html, ws-security.return.security.error. */
function hasEnded({ status, text }: EhrResponse): boolean {
  if (status === 401) return true;
  const { code = '' } = (status === 500 && faultOf(text)) || {};
  return securityCodes.test(code);
}

/** The words of OSCAR are not repeated: they can contain anything. */
function errorOf(fault: SoapFault, operation: Operation, status: number): ConnectorError {
  const lacksRight = /missing required sec object|access denied/i.test(fault.text);
  const words = lacksRight ? ': its user may not do this' : '';
  return new ConnectorError('rejected', `The EHR responded to ${operation} with a fault${words}`, {
    refusal: { status, code: lacksRight ? 'missing_right' : fault.code },
    fault: !lacksRight && !isRefusal(fault),
  });
}
