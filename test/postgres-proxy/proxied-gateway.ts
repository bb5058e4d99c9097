import { type Gateway, type GatewayOptions, startGateway } from '../gateway/gateway.ts';
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts';

/** A gateway whose connections to PostgreSQL pass through a proxy of its own. */
export interface ProxiedGateway extends Gateway {
  readonly proxy: PostgresProxy;
}

/**
 * Starts a gateway behind a proxy. The statements of its sandboxes pass through the proxy too, as `sandbox.…`; those of tests on
 * `gateway.database` do not. Give `beside` for a second gateway on the same database.
 */
export async function startProxiedGateway(options: GatewayOptions = {}): Promise<ProxiedGateway> {
  let proxy: PostgresProxy | undefined;
  const gateway = await startGateway({
    ...options,
    async through(databaseUrl) {
      proxy = await startPostgresProxy(databaseUrl);
      return proxy.url;
    },
  });
  if (!proxy) throw new Error('The gateway does not use the proxy');
  const started = proxy;
  return {
    ...gateway,
    proxy: started,
    async close() {
      await started.heal();
      await gateway.close();
      await started.close();
    },
  };
}
