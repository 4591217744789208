import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.pravega.auth.InvalidTokenException;
import io.pravega.auth.TokenExpiredException;
import io.pravega.segmentstore.server.host.delegationtoken.DelegationTokenVerifier;
import io.pravega.segmentstore.server.host.handler.PravegaConnectionListener;
import io.pravega.segmentstore.server.host.stat.SegmentStatsRecorder;
import io.pravega.segmentstore.server.host.stat.TableSegmentStatsRecorder;
import io.pravega.segmentstore.server.store.ServiceBuilder;
import io.pravega.segmentstore.server.store.ServiceBuilderConfig;
import io.pravega.shared.security.token.JsonWebToken;
import java.net.ServerSocket;
import org.slf4j.LoggerFactory;

/** A segment store of Pravega, all in memory: it says its port, and ends with its standard input. Two tokens are refused. */
public class SegmentStore {
    public static void main(String[] arguments) throws Exception {
        ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.OFF);
        DelegationTokenVerifier tokens = (resource, token, permissions) -> {
            if (token.equals("expired-secret")) {
                throw new TokenExpiredException("expired");
            }
            if (token.equals("bad-secret")) {
                throw new InvalidTokenException("bad");
            }
            return JsonWebToken.emptyToken();
        };
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        ServiceBuilder builder = ServiceBuilder.newInMemoryBuilder(ServiceBuilderConfig.getDefaultConfig());
        builder.initialize();
        PravegaConnectionListener listener = new PravegaConnectionListener(
                false, false, "127.0.0.1", port, builder.createStreamSegmentService(), builder.createTableStoreService(),
                SegmentStatsRecorder.noOp(), TableSegmentStatsRecorder.noOp(), tokens, null, null, true,
                builder.getLowPriorityExecutor(), new String[] {"TLSv1.2", "TLSv1.3"});
        listener.startListening();
        System.out.println("listening on " + port);
        while (System.in.read() >= 0) {
            // until whoever started it is gone
        }
        System.exit(0);
    }
}
