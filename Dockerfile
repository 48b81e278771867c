# kittiwake in a container: docker build -t kittiwake . && docker run --rm -v "$PWD/runs:/flights/runs" kittiwake run hover-hummingbird
FROM python:3.13-slim

ARG EXTRAS=data,survey,magnetic,mesh,statistics
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
COPY examples /source/examples
RUN pip install --no-cache-dir "/source[$EXTRAS]" && rm -r /source

# folders that it writes belong to who starts it with --user
WORKDIR /flights
ENV XDG_CACHE_HOME=/tmp/cache
ENTRYPOINT ["kittiwake"]
CMD ["--help"]
