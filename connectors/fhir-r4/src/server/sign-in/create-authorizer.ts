import type { EhrHttp } from '@crossward/connector-kit';
import type { AuthSettings } from '../../settings.ts';
import type { Authorizer } from './authorizer.ts';
import { clientSecret, privateKeyJwt } from './client-authentication.ts';
import { createTokenSource } from './token-source.ts';

export async function createAuthorizer(auth: AuthSettings, baseUrl: string, http: EhrHttp): Promise<Authorizer> {
  switch (auth.type) {
    case 'none':
      return constant({});
    case 'basic': {
      const pair = Buffer.from(`${auth.username}:${auth.password.reveal()}`).toString('base64');
      return constant({ authorization: `Basic ${pair}` });
    }
    case 'bearer':
      return constant({ authorization: `Bearer ${auth.token.reveal()}` });
    case 'client_credentials':
      return createTokenSource({ ...auth, authentication: clientSecret(auth) }, baseUrl, http);
    case 'smart_backend_services':
      return createTokenSource({ ...auth, authentication: await privateKeyJwt(auth) }, baseUrl, http);
  }
}

function constant(headers: Readonly<Record<string, string>>): Authorizer {
  return { headers: async () => headers };
}
