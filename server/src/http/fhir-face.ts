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
      done(null, { ...parse(String(body)) }),
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

/** The name of an operation begins with `$`, which some clients encode. The router compares paths as they are sent. */
export function withOperationName(url: string): string {
  return isFacePath(url) ? url.replace(/^([^?]*)\/%24(?=[a-z-]+(\?|$))/, '$1/$$') : url;
}
