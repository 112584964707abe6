# The server in a container: docs/container.md. Build it in the folder of a release, which npm run release makes:
#   docker build -t deployer -f Dockerfile --build-arg RELEASE=deployer-0.1.0-linux-x64 release
FROM debian:trixie-slim
# git and ssh for repositories, nft for the rules of private networks.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git nftables openssh-client \
  && rm -rf /var/lib/apt/lists/*
ARG RELEASE
ADD ${RELEASE}.tar.gz /opt/
RUN ln -s "/opt/${RELEASE}/deployer" /usr/local/bin/deployer
# As systemd.io/CONTAINER_INTERFACE has it: deployer upgrade refuses to replace the program of an image.
ENV container=docker DEPLOYER_DATA_DIR=/var/lib/deployer
VOLUME /var/lib/deployer
STOPSIGNAL SIGTERM
ENTRYPOINT ["deployer"]
CMD ["serve"]
