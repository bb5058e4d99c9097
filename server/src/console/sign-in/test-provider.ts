import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const client = { id: 'crossward', secret: 'kanari-client-secret-8842' };

interface TestProvider {
  readonly issuer: string;
  /** Whom the provider signs in next, without asking. `undefined`: it rejects the sign-in. */
  account: string | undefined;
  /** Changes the ID tokens that it issues. */
  forge: ((idToken: string) => string | Promise<string>) | undefined;
  /**
   * Follows the redirects of the provider, as a browser does.
   *
   * @returns the URL of the gateway at their end
   */
  signIn(url: string): Promise<URL>;
  close(): Promise<void>;
}

/** Starts an OpenID provider with one client. The groups of an account are the words of its name. */
export async function startProvider(redirectUri: string): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    cookies: { keys: ['cookies of a test'] },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    pkce: { required: () => true },
    findAccount: (_, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, preferred_username: accountId, groups: accountId.split(' ') }),
    }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: client.id, accountId: oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid profile');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    await next();
    const body = context.body as { id_token?: string } | undefined;
    if (it.forge && typeof body?.id_token === 'string') body.id_token = await it.forge(body.id_token);
  });
  const callback = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) {
      void callback(request, response);
      return;
    }
    const { account } = it;
    void provider.interactionFinished(
      request,
      response,
      account === undefined ? { error: 'access_denied' } : { login: { accountId: account, remember: false } },
    );
  });
  const it: TestProvider = {
    issuer,
    account: undefined,
    forge: undefined,
    async signIn(url) {
      const cookies = new Map<string, string>();
      let next = new URL(url);
      while (next.origin === issuer) {
        const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
        const response = await fetch(next, { redirect: 'manual', headers });
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = response.headers.get('location');
        if (!location) throw new Error(`The provider responded ${response.status}: ${await response.text()}`);
        next = new URL(location, next);
      }
      return next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return it;
}
