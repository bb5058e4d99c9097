import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isFacePath } from '../../server/src/http/protocol/each-request.ts';
import { checkFhirResponse } from './fhir-response-check.ts';
import { openapi } from './openapi.ts';

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Media {
  readonly examples?: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Reasons of problems that the router returns before it matches an operation. */
const routerReasons: readonly unknown[] = ['route_not_found', 'method_not_allowed'];

const codes: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  406: 'NOT_ACCEPTABLE',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'CONTENT_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  431: 'HEADERS_TOO_LARGE',
  500: 'INTERNAL_SERVER_ERROR',
  501: 'NOT_IMPLEMENTED',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
};

type ResponseCheck = (method: string, path: string, response: GatewayResponse) => Promise<void>;

/**
 * Compares responses with the gateway's OpenAPI document. Throws if status, content type, body or reason are not
 * documented for the operation, or if a problem is inconsistent.
 */
export const checkResponse: ResponseCheck = createCheck(openapi as Document);

function createCheck(document: Document): ResponseCheck {
  const { paths } = document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // Of what a client has sent, and gets back.
  for (const format of ['text', 'date-time-or-local']) ajv.addFormat(format, true);
  ajv.addSchema({ ...document, $id: 'openapi' });

  const validators = new Map<string, ValidateFunction>();
  function validatorAt(schemaPath: readonly string[]): ValidateFunction {
    const pointer = schemaPath
      .map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
      .join('');
    const validate =
      validators.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}`, unevaluatedProperties: false });
    validators.set(pointer, validate);
    return validate;
  }

  function assertFits(schemaPath: readonly string[], body: unknown, name: string): void {
    const validate = validatorAt(schemaPath);
    if (!validate(body)) throw new Error(`${name}: the body is not as documented: ${ajv.errorsText(validate.errors)}`);
  }

  function operationAt(
    method: string,
    path: string,
  ): { template: string; method: string; operation: Operation } | undefined {
    const segments = (path.split('?')[0] ?? '').split('/');
    const key = method === 'HEAD' ? 'get' : method.toLowerCase();
    for (const [template, byMethod] of Object.entries(paths)) {
      const parts = template.split('/');
      const operation = byMethod[key];
      const fits =
        parts.length === segments.length &&
        parts.every((part, index) => (/^\{.*\}$/.test(part) ? segments[index] !== '' : part === segments[index]));
      if (operation && fits) return { template, method: key, operation };
    }
    return undefined;
  }

  return async (method, path, response) => {
    const name = `${method} ${path.slice(0, 200)} returned ${response.status} ${response.text.slice(0, 1000)}`;
    const requestId = response.headers['x-request-id'];
    if (typeof requestId !== 'string' || requestId === '') throw new Error(`${name}: x-request-id is missing`);

    // A path below the FHIR base, in any spelling that the router accepts.
    const isJson = /\/\.well-known\/smart-configuration$|bulk-publish(\?|$)/.test(path) && response.status === 200;
    if (isFacePath(path) && !isJson) return checkFhirResponse(name, method, response);
    const mediaType = String(response.headers['content-type'] ?? '').split(';')[0] ?? '';
    const hasBody = method !== 'HEAD';
    const body: Record<string, unknown> | undefined =
      hasBody && /json$/.test(mediaType) ? JSON.parse(response.text) : undefined;
    const isOfOAuth = path === '/api/oauth/token' && mediaType === 'application/json';
    if (response.status >= 400 && path.startsWith('/api') && mediaType !== 'application/problem+json' && !isOfOAuth) {
      throw new Error(`${name}: an error response must be application/problem+json, not ${mediaType}`);
    }
    if (mediaType === 'application/problem+json' && body) {
      assertFits(['components', 'schemas', 'Problem'], body, name);
      if (body.status !== response.status) throw new Error(`${name}: status`);
      if (body.code !== codes[response.status]) throw new Error(`${name}: code`);
      if (body.type !== `/problems/${body.reason}`) throw new Error(`${name}: type`);
      // A replayed response is identical to the stored one.
      const isReplay = response.headers['idempotency-replayed'] === 'true';
      if (body.request_id !== requestId && !isReplay) throw new Error(`${name}: request_id is not x-request-id`);
    }

    const found = operationAt(method, path);
    const isOfRouter = routerReasons.includes(body?.reason) || (!hasBody && response.status === 405);
    if (!found || isOfRouter) return;
    const { template, operation } = found;
    const documented = operation.responses[response.status];
    if (response.status === 204 && documented && !documented.content && response.text === '') return;
    const media = documented?.content;
    if (!media) throw new Error(`${name}: ${operation.operationId} does not document this status`);
    if (response.status < 400 || hasBody) {
      if (!media[mediaType]) throw new Error(`${name}: ${operation.operationId} does not document ${mediaType}`);
    }
    if (!hasBody) return;
    const place = [
      'paths',
      template,
      found.method,
      'responses',
      String(response.status),
      'content',
      mediaType,
      'schema',
    ];
    assertFits(place, body ?? response.text, name);
    const reason = String(isOfOAuth ? body?.error : body?.reason);
    if (response.status >= 400 && !Object.hasOwn(media[mediaType]?.examples ?? {}, reason)) {
      throw new Error(`${name}: ${operation.operationId} does not document the reason ${reason}`);
    }
  };
}
