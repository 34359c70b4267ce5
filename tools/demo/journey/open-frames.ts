import { sameAmount } from '../../../src/domain/amount.ts';
import type { ServicePlayer, SimulatedService } from '../../simulator/service.ts';
import type { CallResult } from '../../simulator/signed-client.ts';
import type { CastPlayer } from '../cast.ts';
import { type Narrator, NotAsPromised } from '../narrator.ts';
import type { Stage } from '../stage.ts';
import { answerOf, balanceOf, money, nameOf, type Player, type Players } from './scene.ts';

/** How players reach the service: alpha asks for a token, beta's frontend puts its prefix before its own. */
export async function openFrames(stage: Stage, narrator: Narrator): Promise<Players> {
  const { anna, ben, carla } = stage.cast;
  const annasToken = await issueToken(stage, narrator, anna);
  const bensToken = await issueToken(stage, narrator, ben);
  const frames = new Frames(stage, narrator);
  return {
    anna: await frames.open(anna, annasToken),
    ben: await frames.open(ben, bensToken),
    carla: await frames.open(carla, `beta.${carla.operatorToken}`),
  };
}

async function issueToken(stage: Stage, narrator: Narrator, cast: CastPlayer): Promise<string> {
  const { user: operatorUser, currency, operatorToken } = cast;
  const { token } = await narrator.step('alpha', `opens a session for ${cast.user}`, async () => {
    const result = await stage.operators.alpha.openSession({
      operatorUser,
      currency,
      operatorToken,
    });
    if (result.session === undefined) throw unexpected('201 and a session', result);
    return { came: 'the gateway issues a token', ms: result.ms, token: result.session.token };
  });
  return token;
}

class Frames {
  readonly #service: SimulatedService;
  readonly #wallets: Stage['wallets'];
  readonly #narrator: Narrator;

  constructor({ service, wallets }: Stage, narrator: Narrator) {
    this.#service = service;
    this.#wallets = wallets;
    this.#narrator = narrator;
  }

  async open(cast: CastPlayer, token: string): Promise<Player> {
    const { operatorId, user } = cast;
    const known = await this.#profile(cast, token);
    const player = { ...known, operatorId, user, wallet: this.#wallets[operatorId] };
    await this.#balance(player);
    return player;
  }

  async #profile(cast: CastPlayer, token: string): Promise<ServicePlayer> {
    const { player } = await this.#narrator.step(nameOf(cast), 'profile', async () => {
      const result = await this.#service.profile(token);
      const { player: found } = result;
      if (found === undefined) throw unexpected('200 and a profile', result);
      if (found.currency !== cast.currency) throw unexpected(cast.currency, result);
      if (found.userId === cast.user)
        throw unexpected("a userId that is not the operator's", result);
      const came = `the service knows ${cast.user} as ${shortened(found.userId)}`;
      return { came, ms: result.ms, player: found };
    });
    return player;
  }

  async #balance(player: Player): Promise<void> {
    await this.#narrator.step(nameOf(player), 'balance', async () => {
      const result = await this.#service.balance(player);
      const held = balanceOf(player);
      if (result.amount === undefined || !sameAmount(result.amount, held)) {
        throw unexpected(money(held, player.currency), result);
      }
      return { came: money(result.amount, player.currency), ms: result.ms };
    });
  }
}

function unexpected(expected: string, result: CallResult): NotAsPromised {
  return new NotAsPromised(expected, answerOf(result));
}

function shortened(id: string): string {
  return id.length > 16 ? `${id.slice(0, 13)}...` : id;
}
