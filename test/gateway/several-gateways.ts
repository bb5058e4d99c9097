import { type Gateway, type GatewayOptions, startGateway } from './gateway.ts';

/** Starts gateways on one PostgreSQL database. Each request goes to the next one; everything else is that of the first. */
export async function startGateways(count: number, options: GatewayOptions = {}): Promise<Gateway> {
  const first = await startGateway(options);
  const others: Gateway[] = [];
  for (let index = 1; index < count; index++) others.push(await startGateway({ ...options, beside: first }));
  const all = [first, ...others];
  let turn = 0;
  return {
    ...first,
    request: (...request) => (all[turn++ % all.length] ?? first).request(...request),
    async close() {
      for (const gateway of all.toReversed()) await gateway.close();
    },
  };
}
