import { parse } from 'node:querystring';
import type { FastifyInstance } from 'fastify';
import { formMediaType } from '../fhir-face/add-interaction.ts';
import { type FaceDeps, isFacePath } from '../fhir-face/face.ts';
import { nativeOperations } from '../fhir-face/native.ts';
import { assertAcceptable, assertMediaType } from '../fhir-face/preferences.ts';
import { addFhirFace } from '../fhir-face/routes.ts';
import { addSmartConfiguration } from '../fhir-face/smart-configuration.ts';
import type { Problem } from '../problems/problem.ts';
import { parseJson } from './json-body.ts';
import { validationProblem } from './validation.ts';

const jsonTypes = ['application/fhir+json', 'application/json', 'application/json-patch+json'];
const formLimit = 64 * 1024;

/** `/api/emrs/{emr}/care-units/{care_unit_id}/fhir-r4`: see `fhir-face`. Its media types are read nowhere else. */
export async function addFhirFaceRoutes(app: FastifyInstance, deps: Omit<FaceDeps, 'nativesOf'>): Promise<void> {
  const nativesOf = nativeOperations(app, validationProblem);
  addSmartConfiguration(app, deps);
  await app.register(async (face) => {
    face.removeAllContentTypeParsers();
    face.addContentTypeParser(jsonTypes, { parseAs: 'buffer' }, (_request, body, done) => {
      try {
        done(null, parseJson(body as Buffer));
      } catch (error) {
        done(error as Problem);
      }
    });
    face.addContentTypeParser(formMediaType, { parseAs: 'string', bodyLimit: formLimit }, (_request, body, done) =>
      // All of them: a search without some of its parameters finds more.
      done(null, { ...parse(String(body), undefined, undefined, { maxKeys: 0 }) }),
    );
    face.addHook('onRequest', (request, _reply, done) => {
      const { representation } = request.routeOptions.config.operation ?? {};
      if (representation) {
        assertAcceptable(request);
        if (representation.consumes) assertMediaType(request, representation.consumes);
      }
      done();
    });
    addFhirFace(face, { ...deps, nativesOf });
  });
}

/**
 * A URL of the face as the router compares it. The name of an operation begins with `$`, which some clients encode, and some
 * write a slash before the query.
 */
export function routedUrl(url: string): string {
  if (!isFacePath(url)) return url;
  const [path = '', ...query] = url.split('?');
  const routed = path.replace(/(?<=\/fhir-r4\/.+)\/$/, '').replace(/\/%24(?=[a-z-]+$)/, '/$$');
  return [routed, ...query].join('?');
}
