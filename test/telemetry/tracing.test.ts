import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { noTracing, tracedMethods } from '../../src/telemetry/tracing.ts';
import {
  createService,
  type ServicePlayer,
  type SimulatedService,
} from '../../tools/simulator/service.ts';
import { type Deployment, openDeployment, type Replica } from '../process/support/deployment.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { type OtlpReceiver, startOtlpReceiver } from './support/otlp-receiver.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;

describe('tracing', { timeout: 60_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment({
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
    });
  });
  afterAll(() => deployment.close());

  const serviceAt = ({ baseUrl }: Replica) =>
    createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  /** A place with headers of the service. */
  const place = (
    service: SimulatedService,
    player: ServicePlayer,
    headers: Readonly<Record<string, string>>,
  ) =>
    service.call('POST', '/payment/bet', placeBody(service.slip({ ...player, amount: '10' })), {
      headers,
    });

  async function traced(run: (replica: Replica) => Promise<void>): Promise<OtlpReceiver> {
    const receiver = await startOtlpReceiver();
    const replica = await deployment.replica({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_SERVICE_NAME: 'gateway-under-test',
    });
    await run(replica);
    expect(await replica.process.stop()).toEqual({ code: 0, signal: null });
    await receiver.close();
    return receiver;
  }

  it("continues the service's trace through callback, journal and wallet", async () => {
    let line: Readonly<Record<string, unknown>> | undefined;
    let token = '';
    const { spans, services, text } = await traced(async (replica) => {
      const service = serviceAt(replica);
      const player = await deployment.player(replica.baseUrl);
      token = player.token;
      const headers = { traceparent: TRACEPARENT, tracestate: 'vendor=x' };
      expect((await place(service, player, headers)).status).toBe(200);
      const handled = await replica.process.waitForLine(
        ({ json }) => json?.msg === 'callback.handled',
      );
      line = handled.json;
      await service.close();
    });

    const inTrace = spans.filter((span) => span.traceId === TRACE_ID);
    const callback = inTrace.find((span) => span.name === 'callback place');
    expect(callback).toMatchObject({
      parentSpanId: PARENT_ID,
      attributes: { 'wagergate.operator': 'alpha', 'wagergate.outcome': 'accepted' },
      failed: false,
    });
    const children = inTrace.filter((span) => span.parentSpanId === callback?.spanId);
    expect(children.map((span) => span.name).sort()).toEqual([
      'journal.begin',
      'journal.finish',
      'wallet place',
    ]);
    for (const child of children) {
      expect(child.beganMs).toBeGreaterThanOrEqual((callback?.beganMs ?? 0) - 1);
      expect(child.endedMs).toBeLessThanOrEqual((callback?.endedMs ?? 0) + 1);
    }
    const walletSpan = children.find((span) => span.name === 'wallet place');
    const request = deployment.wallet('alpha').requests.at(-1);
    expect(request?.headers.traceparent).toBe(`00-${TRACE_ID}-${walletSpan?.spanId}-01`);
    expect(request?.headers.tracestate).toBe('vendor=x');
    expect(line).toMatchObject({ operation: 'place', traceId: TRACE_ID });
    expect([...services]).toEqual(['gateway-under-test']);
    for (const secret of [token, 'operator-token', 'player-1', 'wallet-secret']) {
      expect(text).not.toContain(secret);
    }
  });

  it('passes on a trace that is not recorded, and records nothing inside it, nor of strangers', async () => {
    let line: Readonly<Record<string, unknown>> | undefined;
    const { spans } = await traced(async (replica) => {
      const service = serviceAt(replica);
      const player = await deployment.player(replica.baseUrl);
      const headers = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00`, tracestate: 'vendor=x' };
      expect((await place(service, player, headers)).status).toBe(200);
      const handled = await replica.process.waitForLine(
        ({ json }) => json?.msg === 'callback.handled',
      );
      line = handled.json;
      await service.close();
      const stranger = createService({ baseUrl: replica.baseUrl, secret: 'a-wrong-secret' });
      expect((await stranger.profile('any-token')).status).toBe(400);
      await stranger.close();
    });
    expect(spans).toEqual([]);
    const { headers } = deployment.wallet('alpha').requests.at(-1) ?? {};
    expect(headers?.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
    expect(headers?.tracestate).toBe('vendor=x');
    expect(line).toMatchObject({ operation: 'place', traceId: TRACE_ID });
  });

  it('shows a delivery as a trace of its own, and what failed as failed', async () => {
    const { spans } = await traced(async (replica) => {
      const service = serviceAt(replica);
      const player = await deployment.player(replica.baseUrl);
      const { transactionId } = await service.place({ ...player, amount: '10' });
      const wallet = deployment.wallet('alpha');
      wallet.misbehave('rollback', { kind: 'reset' }, { calls: 2 });
      expect((await service.rollback(transactionId)).kind).toBe('confirmed');
      await wallet.waitFor(() => wallet.arrivals(transactionId, 'rollback').length >= 3);
      await service.close();
    });
    const deliveries = spans.filter((span) => span.name === 'delivery rollback');
    expect(deliveries.map((span) => span.failed)).toEqual([true, false]);
    for (const delivery of deliveries) {
      expect(delivery.parentSpanId ?? '').toBe('');
      const call = spans.find((span) => span.parentSpanId === delivery.spanId);
      expect(call).toMatchObject({ name: 'wallet rollback', failed: delivery.failed });
    }
  });

  it('sends wallets no trace context while it is off', async () => {
    const replica = await deployment.replica();
    const service = serviceAt(replica);
    const player = await deployment.player(replica.baseUrl);
    expect((await place(service, player, { traceparent: TRACEPARENT })).status).toBe(200);
    await service.close();
    await replica.process.stop();
    expect(deployment.wallet('alpha').requests.at(-1)?.headers).not.toHaveProperty('traceparent');
    const [line] = replica.process.lines.filter(({ json }) => json?.msg === 'callback.handled');
    expect(line?.json).not.toHaveProperty('traceId');
  });
});

describe('without an endpoint', () => {
  it('nothing is wrapped', () => {
    const journal = { finish: async () => true };
    expect(tracedMethods(noTracing, 'journal', journal, ['finish'])).toBe(journal);
  });
});
