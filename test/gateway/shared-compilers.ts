import { compilersFactory } from '../../server/src/http/body/compilers.ts';

type Compile = (route: { readonly schema: unknown; readonly httpPart?: string }) => unknown;
type Build = (schemas: object, options?: unknown) => Compile;

/**
 * Lets the gateways of this process share compiled schemas: compiling is slow, and tests start hundreds of gateways with the
 * same schemas.
 */
export function shareCompilers(): void {
  const { buildValidator, buildSerializer } = compilersFactory as unknown as Record<
    keyof typeof compilersFactory,
    Build
  >;
  Object.assign(compilersFactory, {
    buildValidator: shared(buildValidator),
    buildSerializer: shared(buildSerializer),
  });
}

function shared(build: Build): Build {
  const compilers = new Map<string, Compile>();
  return (schemas, options) => {
    // Fastify asks for each route. The names say which they are, and are faster to compare than the schemas.
    const key = Object.keys(schemas).join();
    const compile = compilers.get(key) ?? remembering(build(schemas, options));
    compilers.set(key, compile);
    return compile;
  };
}

function remembering(compile: Compile): Compile {
  const compiled = new Map<string, unknown>();
  return (route) => {
    const key = JSON.stringify([route.httpPart, route.schema]);
    const result = compiled.get(key) ?? compile(route);
    compiled.set(key, result);
    return result;
  };
}
