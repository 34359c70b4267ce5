import type { FastifyInstance } from 'fastify';
import { bonusRoutes } from '../bonuses/routes.ts';
import type { Configuration } from '../config/schema/schema.ts';
import { addressMatcher } from '../http/address-matcher.ts';
import { EventLoopLag } from '../http/arrival.ts';
import { createPublicServer } from '../http/public-server.ts';
import { StrangerLog } from '../lib/stranger-log.ts';
import { openApiRoute } from '../openapi/document.ts';
import { callbackEndpoints, unknownPaths } from '../operations/routes.ts';
import { RefusalLog } from '../operators/refusal-log.ts';
import { OperatorGate } from '../operators/request.ts';
import { operatorRoutes } from '../operators/routes.ts';
import { signingKeys } from '../protocol/signature.ts';
import { BetTimelines } from '../store/bets/timeline.ts';
import { Statements } from '../store/books/statements.ts';
import { Nonces } from '../store/sessions/nonces.ts';
import type { BonusParts } from './bonus-api.ts';
import type { Money } from './money.ts';
import type { Base } from './parts.ts';
import type { Storage } from './storage.ts';

/** The most that a bonus call may take besides waiting for the service: PostgreSQL before and after it. */
const AROUND_BONUS_CALL_MS = 20_000;
/** The part of the deadline that is kept for the answer when a body arrives as slowly as allowed. */
const ANSWER_MS = 300;
/** A body always has this long, however short the deadline is. */
const BODY_MS_MIN = 100;

/** Callbacks from the service, the operator API and the bonus API on one port. */
export function createPublicListener(
  base: Base,
  storage: Storage,
  { callbacks, sessions }: Money,
  { bonuses }: BonusParts,
) {
  const { source, clock, logger, metrics, configuration } = base;
  const lag = new EventLoopLag(clock);
  const service = () => configuration().gateway.service;
  const publicServer = (): FastifyInstance => {
    const strangers = new StrangerLog(clock);
    const edge = {
      serviceKeys: whileSame(() => service().secrets, signingKeys),
      isAllowed: allowedBy(() => service().allowedIps),
      strangers,
    };
    const app = createPublicServer({
      clock,
      logger,
      lag,
      trustProxy: () => service().trustProxy,
      maxConnections: () => configuration().gateway.http.maxConnections,
      endpoints: callbackEndpoints(callbacks, edge),
      onUnknownPath: unknownPaths(callbacks, edge),
      requestTimeoutMs: requestTimeoutMs(configuration()),
      silentMsMax: silentMsMax(configuration()),
    });
    const nonces = new Nonces(storage.callersDatabase, clock);
    const gate = new OperatorGate({ configuration, metrics, clock, nonces, addressMatcher });
    const { players, operatorsPrisma } = storage;
    const timelines = new BetTimelines(operatorsPrisma);
    const statements = new Statements(storage.operatorsDatabase);
    const refusals = new RefusalLog({ gate, logger, clock });
    operatorRoutes(app, { gate, refusals, sessions, players, timelines, statements });
    bonusRoutes(app, { gate, bonuses, metrics, strangers });
    openApiRoute(app);
    source.onChange((changed) => {
      app.server.requestTimeout = requestTimeoutMs(changed);
      // If headers may take longer, Node gives the body that time too.
      app.server.headersTimeout = requestTimeoutMs(changed);
      app.server.timeout = silentMsMax(changed);
    });
    return app;
  };
  return { publicServer, close: () => lag.close() };
}

/** Recomputes a value only when its source is another object, which it is after a reload. */
function whileSame<From, To>(from: () => From, make: (from: From) => To): () => To {
  let madeFrom = from();
  let made = make(madeFrom);
  return () => {
    const current = from();
    if (current !== madeFrom) {
      madeFrom = current;
      made = make(current);
    }
    return made;
  };
}

function allowedBy(cidrs: () => readonly string[]): (address: string) => boolean {
  const matcher = whileSame(cidrs, (list) =>
    list.length === 0 ? () => true : addressMatcher(list),
  );
  return (address) => matcher()(address);
}

/** The slowest answer is that of a bonus call, which may wait for the service for the configured time. */
function silentMsMax({ gateway }: Configuration): number {
  return gateway.service.bonusTimeoutMs + AROUND_BONUS_CALL_MS;
}

/** A slow body must leave time to answer within the deadline. */
function requestTimeoutMs({ gateway }: Configuration): number {
  return Math.max(BODY_MS_MIN, gateway.deadline.totalMs - ANSWER_MS);
}
