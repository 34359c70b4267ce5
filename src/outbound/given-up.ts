import type { Socket } from 'node:net';
import { errors } from 'undici';

/**
 * Resets a connection on which a call is given up. Closed as usual, the system would go on sending what the other side
 * has not acknowledged, for a minute and a half: once a dead line is back, a bet would arrive behind its rollback, and a
 * batch of bonuses behind the answer that nothing was issued (I11).
 *
 * A reset is Node's `destroy` with another end; TLS leaves that to the connection below it.
 *
 * @param socket the one for requests and answers
 * @param wire the TCP connection below it; without TLS the same
 */
export function resetWhenGivenUp(socket: Socket, wire: Socket): void {
  const destroy = socket.destroy.bind(socket);
  const destroyWire = wire.destroy.bind(wire);
  let reason: Error | undefined;
  const destroyForReason = () => destroy(reason);
  const resetWire = () => {
    wire.destroy = destroyWire;
    return wire.resetAndDestroy();
  };
  const destroyOrReset = (error?: Error) => {
    // Node cannot reset what it is ending already; the other side has closed it then.
    if (!isGivenUp(error) || wire.writableEnded) return destroy(error);
    if (wire === socket) {
      reason = error;
      socket.destroy = destroyForReason;
      return socket.resetAndDestroy();
    }
    wire.destroy = resetWire;
    return destroy(error);
  };
  socket.destroy = destroyOrReset;
}

/** How undici ends the connection of a call that was aborted. */
function isGivenUp(error: Error | undefined): boolean {
  return error instanceof errors.InformationalError && error.message === 'aborted';
}
